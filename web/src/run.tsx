// Run: the diagnosis of one run first, and beside it the charts in which its evidence is marked.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Evidence, getCatalogue, getReport, getRun, type Range, type Report, type RunDetail } from './api';
import { Chart } from './chart';
import { Diagnosis } from './diagnosis';
import { useLoaded } from './loading';
import { useRuns } from './store';
import { age, Badge, step } from './words';

interface Group {
  title: string;
  series: string[];
}

const kGroups: [string, string[]][] = [
  ['Loss', ['train-loss', 'validation-loss']],
  ['Accuracy', ['train-accuracy', 'validation-accuracy']],
  ['Metric', ['train-metric', 'validation-metric']],
  ['Reward', ['reward']],
  ['Gradient norm', ['gradient-norm']],
  ['Learning rate', ['learning-rate']],
  ['Loss scale', ['loss-scale']],
];
const kMostInGroup = 7;
const kMostListed = 300;

/** The charts a reader wants to see first: one for each meaning that the report found. */
function groupsOf(report: Report, run: RunDetail): Group[] {
  const there = new Set(run.series.map((series) => series.name));
  const groups = kGroups
    .map(([title, roles]) => ({
      title,
      series: roles.flatMap((role) => report.roles[role] ?? []).filter((name) => there.has(name)).slice(0, kMostInGroup),
    }))
    .filter((group) => group.series.length > 0);
  return groups.length > 0 ? groups : run.series.slice(0, 4).map((series) => ({ title: series.name, series: [series.name] }));
}

function SeriesPicker({ run, shown, onAdd }: { run: RunDetail; shown: Set<string>; onAdd: (name: string) => void }) {
  const [words, setWords] = useState('');
  const fitting = useMemo(() => run.series.filter((series) => !shown.has(series.name) && series.name.toLowerCase().includes(words.toLowerCase())), [run, shown, words]);
  if (run.series.length === shown.size) return null;
  return (
    <details class="picker">
      <summary>More series <span class="count">{run.series.length - shown.size}</span></summary>
      <input type="search" placeholder="Search series" aria-label="Search series" value={words} onInput={(e) => setWords(e.currentTarget.value)} />
      <ul>
        {fitting.slice(0, kMostListed).map((series) => (
          <li key={series.name}><button onClick={() => onAdd(series.name)}><bdi>{series.name.slice(0, 200)}</bdi></button></li>
        ))}
      </ul>
      {fitting.length > kMostListed && <p class="quiet">{step(fitting.length - kMostListed)} more; search to find them.</p>}
    </details>
  );
}

function Charts({ run, report, chosen, revision }: { run: RunDetail; report: Report; chosen: number | null; revision: unknown }) {
  const [range, setRange] = useState<Range | null>(null);
  const [added, setAdded] = useState<string[]>([]);
  const box = useRef<HTMLDivElement>(null);
  const groups = useMemo(() => groupsOf(report, run), [report, run]);
  const evidence = useMemo(() => (chosen === null ? [] : (report.findings[chosen]?.evidence ?? [])), [report, chosen]);
  const there = useMemo(() => new Set(run.series.map((series) => series.name)), [run]);
  const grouped = new Set(groups.flatMap((group) => group.series));
  const wanted = [...new Set([...evidence.map((fact) => fact.series).filter((name) => there.has(name)), ...added])].filter((name) => !grouped.has(name));
  const shown = new Set([...grouped, ...wanted]);

  useEffect(() => {
    if (chosen === null) return;
    setRange(null);
    requestAnimationFrame(() => box.current?.querySelector('.chart.marked')?.scrollIntoView({ block: 'nearest', behavior: 'smooth' }));
  }, [chosen]);
  useEffect(() => {
    const key = (event: KeyboardEvent) => event.key === 'Escape' && setRange(null);
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);

  const none: Evidence[] = useMemo(() => [], []);
  const marksOf = (names: string[]) => {
    const facts = evidence.filter((fact) => names.includes(fact.series));
    return facts.length > 0 ? facts : none;
  };
  return (
    <div class="charts" ref={box}>
      <div class="zoom">
        {range ? (
          <>
            Steps {step(Math.floor(range.from))} to {step(Math.ceil(range.to))} <button onClick={() => setRange(null)}>Show all</button>
          </>
        ) : (
          <span class="quiet">Drag across a chart to zoom into all of them; Escape shows all.</span>
        )}
      </div>
      {[...groups.map((group) => ({ ...group, own: false })), ...wanted.map((name) => ({ title: name.slice(0, 80), series: [name], own: added.includes(name) }))].map((group) => (
        <Chart
          key={group.series.join('\n')}
          run={run.id}
          title={group.title}
          series={group.series}
          range={range}
          evidence={marksOf(group.series)}
          marks={run.marks}
          revision={revision}
          onZoom={setRange}
          onClose={group.own ? () => setAdded(added.filter((name) => name !== group.series[0])) : undefined}
        />
      ))}
      <SeriesPicker run={run} shown={shown} onAdd={(name) => setAdded([...added, name])} />
    </div>
  );
}

function Configuration({ run }: { run: RunDetail }) {
  const entries = Object.entries(run.configuration);
  if (entries.length === 0) return null;
  return (
    <details>
      <summary>Configuration <span class="count">{entries.length}</span></summary>
      <dl class="settings">{entries.slice(0, 500).map(([key, value]) => [<dt><code>{key.slice(0, 200)}</code></dt>, <dd><bdi>{value.slice(0, 500)}</bdi></dd>])}</dl>
    </details>
  );
}

export function RunPage({ id }: { id: string }) {
  const { cards } = useRuns();
  const card = cards.get(id);
  const revision = `${card?.steps?.last ?? ''} ${card?.steps?.count ?? ''} ${card?.modified ?? ''}`;
  const run = useLoaded(() => getRun(id), id, revision);
  const report = useLoaded(() => getReport(id), id, revision);
  const catalogue = useLoaded(getCatalogue, 'catalogue');
  const [chosen, setChosen] = useState<number | null>(null);
  useEffect(() => setChosen(null), [id]);
  const titles = useMemo(
    () => new Map(catalogue.value ? [...catalogue.value.findings, ...catalogue.value.causes].map((page) => [page.id, page.title]) : []),
    [catalogue.value],
  );
  useEffect(() => {
    document.title = `${(run.value?.name ?? 'Run').slice(0, 80)} · Osler`;
  }, [run.value?.name]);
  const error = run.error ?? report.error;
  if (!run.value || !report.value || !(catalogue.value || catalogue.error)) return <main><p class={error ? 'trouble' : 'quiet'}>{error ?? 'Reading the run …'}</p></main>;
  return (
    <main class="run">
      <header class="verdict">
        <p class="trail"><a href="#/">Runs</a> / <bdi>{run.value.name.slice(0, 200)}</bdi></p>
        <h1><Badge status={report.value.status} /> <bdi>{report.value.headline}</bdi></h1>
        <p class="quiet">
          {run.value.format} · steps {step(run.value.steps.first)} to {step(run.value.steps.last)} · {run.value.series.length} series
          {card ? ` · written ${age(card.modified)} ago` : ''}
          {report.value.damage.total > 0 ? ` · ${report.value.damage.total} damaged places` : ''}
        </p>
        {error && <p class="trouble">{error}</p>}
      </header>
      <div class="halves">
        <div class="diagnosis">
          <Diagnosis report={report.value} run={run.value} titles={titles} chosen={chosen} onChoose={setChosen} />
          <Configuration run={run.value} />
        </div>
        <Charts key={id} run={run.value} report={report.value} chosen={chosen} revision={revision} />
      </div>
    </main>
  );
}
