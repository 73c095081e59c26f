// Run: the diagnosis of one run first, and beside it the charts in which its evidence is marked.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { getCatalogue, type Range, type Report, type RunDetail, source } from './api';
import { type Axis, axesOf, useAxis } from './axis';
import { Chart, type Place } from './chart';
import { Diagnosis } from './diagnosis';
import { Experiments } from './experiments';
import { HeatMaps } from './heat';
import { useLoaded } from './loading';
import { OriginGraph } from './origin';
import { type Look, Panel } from './panel';
import { Distributions } from './ridge';
import { type Group, groupsOf } from './roles';
import { useRuns } from './store';
import { Age, Badge, Breakable, duration, moment, number, step } from './words';

const kMostListed = 300;
const kMostMarks = 200;
const kMostSources = 20;

function SeriesPicker({ run, shown, onAdd }: { run: RunDetail; shown: Set<string>; onAdd: (name: string) => void }) {
  const [words, setWords] = useState('');
  const fitting = useMemo(() => run.series.filter((series) => !shown.has(series.name) && series.name.toLowerCase().includes(words.toLowerCase())), [run, shown, words]);
  const hidden = run.series_in_all - shown.size;
  if (hidden <= 0) return null;
  return (
    <details class="picker">
      <summary>More series <span class="count">{step(hidden)}</span></summary>
      <input type="search" placeholder="Search series" aria-label="Search series" value={words} onInput={(e) => setWords(e.currentTarget.value)} />
      <ul>
        {fitting.slice(0, kMostListed).map((series) => (
          <li key={series.name}><button onClick={() => onAdd(series.name)}><bdi>{series.name.slice(0, 200)}</bdi></button></li>
        ))}
      </ul>
      {fitting.length > kMostListed && <p class="quiet">{step(fitting.length - kMostListed)} more; search to find them.</p>}
      {run.series.length < run.series_in_all && <p class="quiet">{step(run.series_in_all - run.series.length)} series are not listed here.</p>}
    </details>
  );
}

/** Restarts and the end of the run, where they are on the axis. */
function marksOf(run: RunDetail, axis: Axis): Place[] {
  return run.marks
    .filter((mark) => mark.kind !== 'note')
    .slice(0, kMostMarks)
    .map((mark) => {
      const at = axis.toX(run.id, mark.step);
      return { kind: mark.kind === 'restart' ? 'restart' : 'end', from: at, to: at, text: mark.kind };
    });
}

interface ChartsProps {
  run: RunDetail;
  report: Report;
  chosen: number | null;
  revision: unknown;
}

function Charts({ run, report, chosen, revision }: ChartsProps) {
  const [view, setView] = useState<Range | null>(null);
  const [look, setLook] = useState<Look>({ axis: 'step', smoothing: 0 });
  const [added, setAdded] = useState<string[]>([]);
  const box = useRef<HTMLDivElement>(null);
  const runs = useMemo(() => [{ run, report }], [run, report]);
  const axis = useAxis(look.axis, runs);
  const whole = useMemo(() => {
    const [from, to] = [axis.toX(run.id, run.steps.first), axis.toX(run.id, run.steps.last)];
    return { from, to: to > from ? to : from + 1 };
  }, [axis, run]);
  const groups = useMemo(() => groupsOf(report, run.series.map((series) => series.name)), [report, run]);
  const evidence = useMemo(() => (chosen === null ? [] : (report.findings[chosen]?.evidence ?? [])), [report, chosen]);
  const numbers = useMemo(() => new Map(run.series.map((series) => [series.name, series.number])), [run]);
  const grouped = new Set(groups.flatMap((group) => group.series));
  const wanted = [...new Set([...evidence.map((fact) => fact.series).filter((name) => numbers.has(name)), ...added])].filter((name) => !grouped.has(name));
  const shown = new Set([...grouped, ...wanted]);
  const marks = useMemo(() => marksOf(run, axis), [run, axis]);

  useEffect(() => setView(null), [axis.kind]);
  const shownBefore = useRef(chosen);
  useEffect(() => {
    const before = shownBefore.current;
    shownBefore.current = chosen;
    if (chosen === null || chosen === before) return;
    setView(null);
    requestAnimationFrame(() => box.current?.querySelector('.chart.marked')?.scrollIntoView({ block: 'nearest', behavior: 'smooth' }));
  }, [chosen]);
  useEffect(() => {
    const key = (event: KeyboardEvent) => event.key === 'Escape' && setView(null);
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);

  const placesOf = (names: string[]): Place[] => {
    const facts = evidence.filter((fact) => names.includes(fact.series));
    if (facts.length === 0) return marks;
    return [...facts.map((fact): Place => ({ kind: 'evidence', from: axis.toX(run.id, fact.steps[0]), to: axis.toX(run.id, fact.steps[1]) })), ...marks];
  };
  const levelsOf = (names: string[]) => {
    const id = chosen === null ? '' : report.findings[chosen]?.id;
    return run.levels.filter((level) => level.finding === id && names.includes(level.series)).map((level) => level.value);
  };
  const all: (Group & { own: boolean })[] = [
    ...groups.map((group) => ({ ...group, own: false })),
    ...wanted.map((name) => ({ title: name.slice(0, 80), series: [name], own: added.includes(name) })),
  ];
  return (
    <div class="charts" ref={box}>
      <Panel kinds={axesOf(runs)} look={look} axis={axis} view={view} onLook={setLook} onView={setView} />
      {all.map((group) => (
        <Chart
          key={group.series.join('\n')}
          title={group.title}
          lines={group.series.map((name) => ({ run: run.id, name, number: numbers.get(name), label: name }))}
          axis={axis}
          whole={whole}
          view={view}
          smoothing={look.smoothing}
          places={placesOf(group.series)}
          levels={levelsOf(group.series)}
          revision={revision}
          onView={setView}
          onClose={group.own ? () => setAdded(added.filter((name) => name !== group.series[0])) : undefined}
        />
      ))}
      <SeriesPicker run={run} shown={shown} onAdd={(name) => setAdded([...added, name])} />
      {run.layer_series > 0 && <HeatMaps run={run} axis={axis} view={view} whole={whole} revision={revision} />}
      {run.histograms.length > 0 && <Distributions run={run} revision={revision} />}
      <Experiments experiments={report.experiments ?? []} />
    </div>
  );
}

/** Names on the left, what they stand for on the right. */
function Pairs({ pairs }: { pairs: [ComponentChildren, ComponentChildren][] }) {
  return <dl class="pairs">{pairs.map(([name, value]) => [<dt>{name}</dt>, <dd>{value}</dd>])}</dl>;
}

function Configuration({ run }: { run: RunDetail }) {
  const entries = Object.entries(run.configuration);
  if (entries.length === 0) return null;
  return (
    <details>
      <summary>Configuration <span class="count">{entries.length}</span></summary>
      <Pairs pairs={entries.slice(0, 500).map(([key, value]) => [<code><Breakable name={key.slice(0, 200)} /></code>, <bdi>{value.slice(0, 500)}</bdi>])} />
    </details>
  );
}

const nameOfRole = (role: string) => role.replaceAll('-', ' ');

/** What the report rests on: files, times, and which series was taken for what. */
function Origins({ run, report }: { run: RunDetail; report: Report }) {
  const roles = Object.entries(report.roles).map(([role, names]) => [role, [names].flat()] as const);
  const figures = Object.entries(report.metrics);
  return (
    <details open={!source.live}>
      <summary>What this rests on</summary>
      <h4>Read from</h4>
      <ul class="links">{run.sources.slice(0, kMostSources).map((path) => <li><Breakable name={path.slice(0, 500)} /></li>)}</ul>
      {run.sources.length > kMostSources && <p class="quiet small">and {run.sources.length - kMostSources} more</p>}
      {report.damage.total > 0 && <p class="small">{report.damage.total} places of it are damaged; {step(report.damage.lost_bytes)} bytes were lost.</p>}
      <h4>Read as</h4>
      <Pairs pairs={roles.map(([role, names]) => [nameOfRole(role), <><Breakable name={names[0]?.slice(0, 120) ?? ''} />{names.length > 1 && ` and ${names.length - 1} more`}</>])} />
      {figures.length > 0 && <h4>Figures</h4>}
      <Pairs pairs={figures.map(([name, value]) => [nameOfRole(name), name.endsWith('-step') && typeof value === 'number' ? step(value) : number(value)])} />
    </details>
  );
}

/** When the run was, and for how long. */
function times({ times }: RunDetail): string {
  return times ? ` · ${moment(times.first)}, ${duration(times.last - times.first)}` : '';
}

/** All there is about one run, under a trail that leads to it. */
export function RunView({ id, trail }: { id: string; trail?: ComponentChildren }) {
  const { cards } = useRuns();
  const card = cards.get(id);
  const revision = `${card?.steps?.last ?? ''} ${card?.steps?.count ?? ''} ${card?.modified ?? ''} ${card?.headline ?? ''}`;
  const run = useLoaded(() => source.run(id), id, revision);
  const report = useLoaded(() => source.report(id), id, revision);
  const catalogue = useLoaded(getCatalogue, 'catalogue');
  // A report is handed to somebody who has not seen the run: its first finding is marked from the start.
  const first = source.live ? null : 0;
  const [chosen, setChosen] = useState<number | null>(first);
  useEffect(() => setChosen(first), [id]);
  const titles = useMemo(
    () => new Map(catalogue.value ? [...catalogue.value.findings, ...catalogue.value.causes].map((page) => [page.id, page.title]) : []),
    [catalogue.value],
  );
  const error = run.error ?? report.error;
  if (!run.value || !report.value) return <p class={error ? 'trouble' : 'quiet'}>{error ?? 'Reading the run …'}</p>;
  return (
    <>
      <header class="verdict">
        <p class="trail">{trail}<bdi>{run.value.name.slice(0, 200)}</bdi></p>
        <h1><Badge status={report.value.status} /> <bdi>{report.value.headline}</bdi></h1>
        <p class="quiet">
          {run.value.format} · steps {step(run.value.steps.first)} to {step(run.value.steps.last)} · {step(run.value.series_in_all)} series
          {times(run.value)}
          {card?.modified ? <> · written <Age seconds={card.modified} /> ago</> : ''}
          {report.value.damage.total > 0 ? ` · ${report.value.damage.total} damaged places` : ''}
        </p>
        {error && <p class="trouble">{error}</p>}
      </header>
      <div class="halves">
        <div class="diagnosis">
          {run.value.origin && <OriginGraph origin={run.value.origin} />}
          <Diagnosis report={report.value} run={run.value} titles={titles} chosen={chosen} onChoose={setChosen} />
          <Origins run={run.value} report={report.value} />
          <Configuration run={run.value} />
        </div>
        <Charts key={id} run={run.value} report={report.value} chosen={chosen} revision={revision} />
      </div>
    </>
  );
}

export function RunPage({ id }: { id: string }) {
  const { cards } = useRuns();
  const name = cards.get(id)?.name ?? 'Run';
  useEffect(() => {
    document.title = `${name.slice(0, 80)} · Osler`;
  }, [name]);
  const several = source.live || cards.size > 1;
  return <main class="run"><RunView id={id} trail={several && <><a href="#/">Runs</a> / </>} /></main>;
}
