// Compare: several runs on one axis, the place where each leaves the first, and what was set differently.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Comparison, getCatalogue, type Range, type Report, type RunDetail, source } from './api';
import { axesOf, useAxis } from './axis';
import { Chart, type Line, type Place } from './chart';
import { useLoaded } from './loading';
import { type Look, Panel } from './panel';
import { inRole, kGroups } from './roles';
import { useRuns } from './store';
import { Swatch } from './swatch';
import { Badge, Breakable, number, step } from './words';

const kMostRuns = 7;
const kStanding = { same: 'The same', better: 'Better', worse: 'Worse', unclear: 'Unclear' } as const;

type Loaded = { run: RunDetail; report: Report };

function useComparisons(base: string, others: string[], revision: string) {
  return useLoaded(
    () => Promise.all(others.map((id) => source.compare(base, id).then((value) => ({ value, error: '' }), (error: Error) => ({ value: null, error: error.message })))),
    [base, ...others].join(' '),
    revision,
  );
}

function Sides({ comparison }: { comparison: Comparison }) {
  return (
    <div class="scroll">
      <table class="sides">
        <thead><tr><th>Series</th><th>First run</th><th>This run</th><th>Difference at the end</th><th>They part</th></tr></thead>
        <tbody>
          {comparison.series.map((series) => (
            <tr key={`${series.role} ${series.a.series}`}>
              <th scope="row"><Breakable name={series.a.series.slice(0, 80)} /></th>
              <td>{number(series.a.end)} <span class="quiet">best {number(series.a.best)}</span></td>
              <td>{number(series.b.end)} <span class="quiet">best {number(series.b.best)}</span></td>
              <td>{number(series.difference)} <span class="quiet">{number(series.standard_errors)} s.e.</span></td>
              <td>{series.parting ? `${comparison.axis} ${step(Math.round(series.parting.at))}` : 'not beyond noise'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Against({ comparison, name, titles }: { comparison: Comparison; name: string; titles: Map<string, string> }) {
  const list = (ids: string[]) => ids.map((id, i) => [i > 0 && ', ', <a href={`#/catalogue/${id}`}>{titles.get(id) ?? id}</a>]);
  return (
    <section class="against" aria-label={`${name} against the first run`}>
      <h3><bdi>{name.slice(0, 120)}</bdi> <span class={`standing ${comparison.standing}`}>{kStanding[comparison.standing]}</span></h3>
      <p><bdi>{comparison.headline}</bdi></p>
      {comparison.facts.length > 0 && <ul>{comparison.facts.map((fact) => <li><bdi>{fact}</bdi></li>)}</ul>}
      {comparison.only_a.length > 0 && <p class="quiet">Only the first run has: {list(comparison.only_a)}</p>}
      {comparison.only_b.length > 0 && <p class="quiet">Only this run has: {list(comparison.only_b)}</p>}
      <Sides comparison={comparison} />
      <h4>Configuration</h4>
      {comparison.config.length === 0 && <p class="quiet">No difference is known.</p>}
      {comparison.config.length > 0 && (
        <div class="scroll">
          <table class="sides config">
            <thead><tr><th>Key</th><th>First run</th><th>This run</th></tr></thead>
            <tbody>{comparison.config.slice(0, 200).map((entry) => <tr key={entry.key}><th scope="row"><code>{entry.key.slice(0, 120)}</code></th><td><bdi>{entry.a.slice(0, 200)}</bdi></td><td><bdi>{entry.b.slice(0, 200)}</bdi></td></tr>)}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Overlay({ runs, comparisons, revision }: { runs: Loaded[]; comparisons: (Comparison | null)[]; revision: string }) {
  const [view, setView] = useState<Range | null>(null);
  const [look, setLook] = useState<Look>({ axis: 'step', smoothing: 0 });
  const axis = useAxis(look.axis, runs);
  useEffect(() => setView(null), [axis.kind]);
  const whole = useMemo(() => {
    const from = Math.min(...runs.map(({ run }) => axis.toX(run.id, run.steps.first)));
    const to = Math.max(...runs.map(({ run }) => axis.toX(run.id, run.steps.last)));
    return { from, to: to > from ? to : from + 1 };
  }, [axis, runs]);
  // One chart for each role: the best series of every run that has it, in the colour of the run.
  const charts = kGroups
    .flatMap(([, roles]) => roles)
    .map((role) => ({ role, names: runs.map(({ run, report }) => inRole(report, role).find((name) => run.series.some((series) => series.name === name))) }))
    .filter(({ names }) => names.filter(Boolean).length > 0);
  const placesOf = (names: (string | undefined)[]): Place[] =>
    comparisons.flatMap((comparison, i) => {
      if (!comparison || comparison.axis !== 'step') return [];
      const parting = comparison.series.find((series) => series.a.series === names[0] && series.b.series === names[i + 1])?.parting;
      if (!parting) return [];
      const at = axis.toX(runs[i + 1]!.run.id, parting.at);
      return [{ kind: 'parting', from: at, to: at, text: comparisons.length > 1 ? `parts from ${i + 2}` : 'they part' }];
    });
  return (
    <div class="charts">
      <Panel kinds={axesOf(runs)} look={look} axis={axis} view={view} onLook={setLook} onView={setView} />
      {charts.map(({ role, names }) => {
        // A run without this series keeps its place, so that its colour is the same in every chart.
        const lines = names.map((name, i): Line | null => (name ? { run: runs[i]!.run.id, name, label: `${i + 1} ${name}`, ink: i } : null)).filter((line) => line !== null);
        return (
          <Chart key={role} title={role.replaceAll('-', ' ').replace(/^./, (c) => c.toUpperCase())} lines={lines} axis={axis} whole={whole} view={view} smoothing={look.smoothing} places={placesOf(names)} levels={[]} revision={revision} onView={setView} />
        );
      })}
    </div>
  );
}

export function ComparePage({ ids }: { ids: string[] }) {
  const { cards, loaded } = useRuns();
  const shown = ids.slice(0, kMostRuns);
  const key = shown.join(' ');
  const revision = shown.map((id) => `${cards.get(id)?.steps?.last} ${cards.get(id)?.modified}`).join(' ');
  const runs = useLoaded(() => Promise.all(shown.map(async (id) => ({ run: await source.run(id), report: await source.report(id) }))), key, revision);
  const comparisons = useComparisons(shown[0] ?? '', shown.slice(1), revision);
  const catalogue = useLoaded(getCatalogue, 'catalogue');
  const titles = useMemo(() => new Map(catalogue.value ? [...catalogue.value.findings, ...catalogue.value.causes].map((page) => [page.id, page.title]) : []), [catalogue.value]);
  const name = (id: string) => cards.get(id)?.name ?? id;
  if (shown.length < 2) {
    return (
      <main class="compare">
        <h1>Compare</h1>
        <p class="lead">Choose two to {kMostRuns} runs in <a href="#/">the list of runs</a> and press Compare. The first one chosen is what the others are held against.</p>
      </main>
    );
  }
  return (
    <main class="compare">
      <h1>Compare</h1>
      <ol class="contestants">
        {shown.map((id, i) => (
          <li key={id}>
            <Swatch ink={i} /> {i + 1} <a href={`#/run/${id}`}><bdi>{name(id).slice(0, 120)}</bdi></a>
            {cards.get(id) && <Badge status={cards.get(id)!.status} />}
            {i > 0 && <a class="quiet small" href={`#/compare/${[id, ...shown.filter((other) => other !== id)].join(',')}`}>hold others against this</a>}
          </li>
        ))}
      </ol>
      {runs.error && <p class="trouble">{runs.error}</p>}
      {!runs.value && !runs.error && <p class="quiet">{loaded ? 'Reading the runs …' : 'Loading …'}</p>}
      <div class="halves">
        <div class="diagnosis">
          {comparisons.value?.map(({ value, error }, i) => (value ? <Against key={shown[i + 1]} comparison={value} name={name(shown[i + 1]!)} titles={titles} /> : <p class="trouble">{name(shown[i + 1]!).slice(0, 120)}: {error}</p>))}
          {!comparisons.value && <p class="quiet">Comparing …</p>}
        </div>
        {runs.value && <Overlay key={key} runs={runs.value} comparisons={comparisons.value?.map(({ value }) => value) ?? []} revision={revision} />}
      </div>
    </main>
  );
}
