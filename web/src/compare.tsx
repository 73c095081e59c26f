// Compare: several runs on one axis, the place where each leaves the first, and what was set differently.
import { useMemo, useState } from 'preact/hooks';
import { type ComparedSide, type Comparison, getCatalogue, type Measure, source } from './api';
import { pinnedFirst, useArrangement } from './arrangement';
import { axesOf, useAxis } from './axis';
import { Chart, type Line, type Place } from './chart';
import { PinButton, SeriesPicker } from './chart_tools';
import { asksForValues, useColumnsOf } from './columns';
import { type Loaded, GroupChooser, GroupedOverlay, waysToGroup } from './groups';
import { kBySeed } from './grouping';
import { useLoaded } from './loading';
import { allOwn } from './own';
import { Panel, useLook } from './panel';
import { inRole, kGroups } from './roles';
import { useRuns } from './store';
import { keep, kept } from './route';
import { found } from './search';
import { hiddenRuns } from './shelves';
import { Swatch } from './swatch';
import { Badge, Breakable, number, step } from './words';

const kMostRuns = 7;
/** As many can be looked at in groups. */
const kMostGrouped = 60;
const kMostListed = 200;
const kStanding = { same: 'The same', better: 'Better', worse: 'Worse', unclear: 'Unclear' } as const;
const kReasons: Record<string, string> = { crashed: 'crashed', nonfinite: 'turned NaN', 'critical-finding': 'critical', 'stopped-early': 'stopped early' };
/** Roles in which no value is the best. */
const kUnjudged = ['learning-rate', 'gradient-norm', 'loss-scale'];

/** How the run stands, in a word or two; never "the same" of a run that is critical, or that has not gone as far as the first. */
function standingOf(comparison: Comparison): string {
  const [first, second] = comparison.reports;
  const same = second.status === 'critical' ? 'Just as sick' : (second.run.steps?.last ?? 0) < (first.run.steps?.last ?? 0) ? 'The same so far' : kStanding.same;
  const word = comparison.standing === 'same' ? same : kStanding[comparison.standing];
  const reason = kReasons[comparison.standing_reason];
  return reason ? `${word}: ${comparison.standing === 'better' ? `the first ${reason === 'critical' ? 'is critical' : reason}` : reason}` : word;
}

/** With several runs on the page the second is this one. */
const ofThis = (sentence: string) => sentence.replace('The second run', 'This run').replace('the second run', 'this run').replace(', the second ', ', this one ');

function useComparisons(base: string, others: string[], revision: string) {
  return useLoaded(
    () => Promise.all(others.map((id) => source.compare(base, id).then((value) => ({ value, error: '' }), (error: Error) => ({ value: null, error: error.message })))),
    [base, ...others].join(' '),
    revision,
  );
}

/** A level at the end, the best there was, and since when there is none. */
function Level({ side, role }: { side: ComparedSide; role: string }) {
  return (
    <>
      {number(side.end)} {!kUnjudged.includes(role) && <span class="quiet">best {number(side.best)}</span>}
      {side.lost_after !== null && <span class="quiet"> not finite after step {step(Math.round(side.lost_after))}</span>}
    </>
  );
}

/** Beyond a hundred nobody counts any more. */
const errors = (value: Measure) => (typeof value !== 'number' ? '' : value > 100 ? '> 100 standard errors' : `${number(Number(value.toPrecision(2)))} standard errors`);

function Sides({ comparison }: { comparison: Comparison }) {
  return (
    <div class="scroll">
      <table class="sides">
        <thead><tr><th>Series</th><th>First run</th><th>This run</th><th>Difference at the end</th><th>They part</th></tr></thead>
        <tbody>
          {comparison.series.map((series) => (
            <tr key={`${series.role} ${series.a.series}`}>
              <th scope="row"><Breakable name={series.a.series.slice(0, 80)} /></th>
              <td><Level side={series.a} role={series.role} /></td>
              <td><Level side={series.b} role={series.role} /></td>
              <td>{number(series.difference)} <span class="quiet" title="how large that is against the noise of both">{errors(series.standard_errors)}</span></td>
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
      <h3><bdi>{name.slice(0, 120)}</bdi> <span class={`standing ${comparison.standing}`}>{standingOf(comparison)}</span></h3>
      <p><bdi>{ofThis(comparison.headline)}</bdi></p>
      {comparison.facts.length > 0 && <ul>{comparison.facts.map((fact) => <li><bdi>{ofThis(fact)}</bdi></li>)}</ul>}
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
  const { look, setLook, view: wished, setView } = useLook();
  const axis = useAxis(look.axis, runs);
  const view = axis.kind === look.axis ? wished : null;
  const whole = useMemo(() => {
    const from = Math.min(...runs.map(({ run }) => axis.toX(run.id, run.steps.first)));
    const to = Math.max(...runs.map(({ run }) => axis.toX(run.id, run.steps.last)));
    return { from, to: to > from ? to : from + 1 };
  }, [axis, runs]);
  const arrangement = useArrangement();
  const known = useMemo(() => runs.map(({ run }) => new Set(run.series.map((series) => series.name))), [runs]);
  const every = useMemo(() => [...new Set(known.flatMap((names) => [...names]))], [known]);
  // One chart for each role: the best series of every run that has it, in the colour of the run. Then what was asked for, by its name.
  const charts = [
    ...kGroups
      .flatMap(([, roles]) => roles)
      .map((role) => ({ title: role.replaceAll('-', ' ').replace(/^./, (c) => c.toUpperCase()), own: false, names: runs.map(({ report }, i) => inRole(report, role).find((name) => known[i]!.has(name))) })),
    ...arrangement.added.map((name) => ({ title: name.slice(0, 80), own: true, names: known.map((names) => (names.has(name) ? name : undefined)) })),
  ].filter(({ names }) => names.some(Boolean));
  const shown = new Set(charts.flatMap(({ names }) => names.filter((name) => name !== undefined)));
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
      {pinnedFirst(charts, arrangement).map(({ title, own, names }) => {
        // A run without this series keeps its place, so that its colour is the same in every chart.
        const lines = names.map((name, i): Line | null => (name ? { run: runs[i]!.run.id, name, label: `${i + 1} ${name}`, ink: i } : null)).filter((line) => line !== null);
        return (
          <Chart
            key={title}
            title={title}
            lines={lines}
            axis={axis}
            whole={whole}
            view={view}
            smoothing={look.smoothing}
            places={placesOf(names)}
            levels={[]}
            revision={revision}
            onView={setView}
            onClose={own ? () => arrangement.close(names.find((name) => name !== undefined)!) : undefined}
            tools={<PinButton title={title} arrangement={arrangement} />}
          />
        );
      })}
      <SeriesPicker names={every} inAll={every.length} shown={shown} onAdd={arrangement.add} />
    </div>
  );
}

/** Which runs to compare, where the address does not say. */
function Picker({ chosen }: { chosen: string[] }) {
  const { cards, loaded } = useRuns();
  const [words, setWords] = useState('');
  const hidden = useMemo(hiddenRuns, []);
  const [picked, setPicked] = useState(chosen);
  const pick = (id: string) => setPicked(picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id].slice(0, kMostGrouped));
  const { table } = useColumnsOf(cards, asksForValues(words));
  const own = useMemo(allOwn, []);
  // What was chosen stands first, in its order; what is put away is not offered.
  const offered = [...cards.values()].filter((card) => !picked.includes(card.id) && !card.archived && !hidden.has(card.id));
  const fitting = [...picked.flatMap((id) => cards.get(id) ?? []), ...found(offered, words, table, own)];
  return (
    <main class="compare">
      <h1>Compare</h1>
      <p class="lead">Choose runs. Up to {kMostRuns} are held against the first one chosen; up to {kMostGrouped} can be looked at in groups, such as the seeds of each setting.</p>
      <div class="tools">
        <input type="search" placeholder="Search, or lr=0.1" aria-label="Search runs" value={words} onInput={(e) => setWords(e.currentTarget.value)} />
        {picked.length > 0 && <button onClick={() => setPicked([])}>Clear</button>}
        {picked.length > 1 ? <a class="button" href={`#/compare/${picked.join(',')}`}>Compare {picked.length} runs</a> : <span class="quiet">{picked.length === 1 ? 'One more' : 'None chosen yet'}</span>}
      </div>
      <ul class="plain pick">
        {fitting.slice(0, kMostListed).map((card) => (
          <li key={card.id}>
            <label>
              <input type="checkbox" checked={picked.includes(card.id)} disabled={!picked.includes(card.id) && picked.length >= kMostGrouped} onChange={() => pick(card.id)} />
              <span class="place">{picked.includes(card.id) ? picked.indexOf(card.id) + 1 : ''}</span>
              <Badge status={card.status} />
              <bdi>{card.name.slice(0, 200)}</bdi>
              <span class="quiet">{card.steps ? `step ${step(card.steps.last)}` : ''}</span>
            </label>
          </li>
        ))}
      </ul>
      {fitting.length > kMostListed && <p class="quiet">{step(fitting.length - kMostListed)} more; search to find them.</p>}
      {loaded && cards.size < 2 && <p class="quiet">There are not two runs to compare yet.</p>}
    </main>
  );
}

/** The runs one by one, each held against the first. */
function OneByOne({ runs, shown, revision }: { runs: Loaded[]; shown: string[]; revision: string }) {
  const { cards } = useRuns();
  const comparisons = useComparisons(shown[0] ?? '', shown.slice(1), revision);
  const catalogue = useLoaded(getCatalogue, 'catalogue');
  const titles = useMemo(() => new Map(catalogue.value ? [...catalogue.value.findings, ...catalogue.value.causes].map((page) => [page.id, page.title]) : []), [catalogue.value]);
  const name = (id: string) => cards.get(id)?.name ?? id;
  return (
    <>
      <div class="diagnosis">
        {comparisons.value?.map(({ value, error }, i) => (value ? <Against key={shown[i + 1]} comparison={value} name={name(shown[i + 1]!)} titles={titles} /> : <p class="trouble">{name(shown[i + 1]!).slice(0, 120)}: {error}</p>))}
        {!comparisons.value && <p class="quiet">Comparing …</p>}
      </div>
      <Overlay key={shown.join(' ')} runs={runs} comparisons={comparisons.value?.map(({ value }) => value) ?? []} revision={revision} />
    </>
  );
}

function Contestants({ shown }: { shown: string[] }) {
  const { cards } = useRuns();
  return (
    <ol class="contestants">
      {shown.map((id, i) => (
        <li key={id}>
          <Swatch ink={i} /> {i + 1} <a href={`#/run/${id}`}><bdi>{(cards.get(id)?.name ?? id).slice(0, 120)}</bdi></a>
          {cards.get(id) && <Badge status={cards.get(id)!.status} />}
          {i > 0 && <a class="quiet small" href={`#/compare/${[id, ...shown.filter((other) => other !== id)].join(',')}`}>make this the first</a>}
        </li>
      ))}
    </ol>
  );
}

/** The runs that the address names, compared; or the choice of runs, where it names fewer than two or asks for it. */
export function ComparePage({ ids, choosing }: { ids: string[]; choosing: boolean }) {
  const { cards, loaded } = useRuns();
  const all = ids.slice(0, kMostGrouped);
  const key = all.join(' ');
  const revision = all.map((id) => `${cards.get(id)?.steps?.last} ${cards.get(id)?.modified}`).join(' ');
  const runs = useLoaded(() => Promise.all(all.map(async (id) => ({ run: await source.run(id), report: await source.report(id) }))), key, revision);
  const [wish, setWish] = useState<string | null>(() => kept().get('group'));
  const ways = useMemo(() => (runs.value && runs.value.length > 2 ? waysToGroup(runs.value) : []), [runs.value]);
  // Runs that are too many to be seen one by one, and differ by their seed alone, are grouped unless somebody wants otherwise.
  const usual = all.length > kMostRuns && ways.includes(kBySeed) ? kBySeed : '';
  const by = wish !== null && (wish === '' || ways.includes(wish)) ? wish : usual;
  const choose = (next: string) => {
    setWish(next);
    keep({ group: next === usual ? null : next });
  };
  if (all.length < 2 || choosing) return <Picker chosen={all} />;
  const shown = by ? all : all.slice(0, kMostRuns);
  return (
    <main class="compare">
      <h1>Compare</h1>
      <p class="trail"><a href={`#/compare/${all.join(',')}/choose`}>Add or remove runs</a></p>
      <GroupChooser ways={ways} by={by} onChoose={choose} />
      {!by && <Contestants shown={shown} />}
      {shown.length < all.length && <p class="quiet">The first {shown.length} of {all.length} runs are shown; more can be seen in groups.</p>}
      {runs.error && <p class="trouble">{runs.error}</p>}
      {!runs.value && !runs.error && <p class="quiet">{loaded ? 'Reading the runs …' : 'Loading …'}</p>}
      <div class="halves">
        {runs.value && (by ? <GroupedOverlay key={`${key} ${by}`} runs={runs.value} by={by} revision={revision} /> : <OneByOne runs={runs.value.slice(0, kMostRuns)} shown={shown} revision={revision} />)}
      </div>
    </main>
  );
}
