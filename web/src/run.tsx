// Run: the diagnosis of one run first, and beside it the charts in which its evidence is marked.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { getCatalogue, type Report, type RunDetail, source } from './api';
import { pinnedFirst, useArrangement } from './arrangement';
import { type Axis, axesOf, useAxis } from './axis';
import { Chart, type Line, type Place } from './chart';
import { ChartTools, SeriesPicker } from './chart_tools';
import { Diagnosis } from './diagnosis';
import { Experiments } from './experiments';
import { HeatMaps } from './heat';
import { useLoaded } from './loading';
import { OriginGraph } from './origin';
import { OwnWords } from './own';
import { Panel, useLook } from './panel';
import { Distributions } from './ridge';
import { type Group, groupsOf } from './roles';
import { kept, useKept } from './route';
import { useRuns } from './store';
import { Age, Badge, Breakable, duration, moment, number, step } from './words';

const kMostMarks = 200;
const kMostSources = 20;

/** Restarts, notes and the end of the run, where they are on the axis. */
function marksOf(run: RunDetail, axis: Axis): Place[] {
  return run.marks.slice(0, kMostMarks).map((mark) => {
    const at = axis.toX(run.id, mark.step);
    const over = mark.kind === 'finished' || mark.kind === 'crashed';
    return { kind: over ? 'end' : 'restart', from: at, to: at, text: mark.kind === 'note' ? mark.text : mark.kind };
  });
}

interface ChartsProps {
  run: RunDetail;
  report: Report;
  chosen: number | null;
  revision: unknown;
}

function Charts({ run, report, chosen, revision }: ChartsProps) {
  const { look, setLook, view: wished, setView } = useLook();
  const arrangement = useArrangement();
  const { added } = arrangement;
  const box = useRef<HTMLDivElement>(null);
  const runs = useMemo(() => [{ run, report }], [run, report]);
  const axis = useAxis(look.axis, runs);
  const view = axis.kind === look.axis ? wished : null; // until its axis is there, a view of it means nothing
  const whole = useMemo(() => {
    const [from, to] = [axis.toX(run.id, run.steps.first), axis.toX(run.id, run.steps.last)];
    return { from, to: to > from ? to : from + 1 };
  }, [axis, run]);
  const groups = useMemo(() => groupsOf(report, run.series.map((series) => series.name)), [report, run]);
  const evidence = useMemo(() => (chosen === null ? [] : (report.findings[chosen]?.evidence ?? [])), [report, chosen]);
  const numbers = useMemo(() => new Map(run.series.map((series) => [series.name, series.number])), [run]);
  const names = useMemo(() => [...numbers.keys()], [numbers]);
  const grouped = new Set(groups.flatMap((group) => group.series));
  const wanted = [...new Set([...evidence.map((fact) => fact.series), ...added].filter((name) => numbers.has(name)))].filter((name) => !grouped.has(name));
  const shown = new Set([...grouped, ...wanted]);
  const marks = useMemo(() => marksOf(run, axis), [run, axis]);

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
  const lineOf = (name: string): Line => ({ run: run.id, name, number: numbers.get(name), label: name });
  return (
    <div class="charts" ref={box}>
      <Panel kinds={axesOf(runs)} look={look} axis={axis} view={view} onLook={setLook} onView={setView} />
      {pinnedFirst(all, arrangement).map(({ title, series, own }) => {
        const lines = series.map((name, ink) => ({ ...lineOf(name), ink })).filter(({ name }) => !arrangement.isLeftOut(title, name));
        const over = arrangement.over(title).filter((name) => numbers.has(name)).map((name, i) => ({ ...lineOf(name), ink: series.length + i, right: true }));
        return (
          <Chart
            key={series.join('\n')}
            title={title}
            lines={[...lines, ...over]}
            axis={axis}
            whole={whole}
            view={view}
            smoothing={look.smoothing}
            places={placesOf(series)}
            levels={levelsOf(series)}
            revision={revision}
            onView={setView}
            onClose={own ? () => arrangement.close(series[0]!) : undefined}
            tools={<ChartTools title={title} lines={series} others={names} arrangement={arrangement} />}
          />
        );
      })}
      <SeriesPicker names={names} inAll={run.series_in_all} shown={shown} onAdd={arrangement.add} />
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
  const [wish, setWish] = useState<string | null>(() => kept().get('finding'));
  const at = report.value?.findings.findIndex((finding) => finding.id === wish) ?? -1;
  const chosen = wish === null ? first : at < 0 ? null : at;
  const setChosen = (next: number | null) => setWish(next === null ? '' : (report.value?.findings[next]?.id ?? ''));
  useKept({ finding: wish || null });
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
        {source.live && <OwnWords key={id} id={id} />}
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
