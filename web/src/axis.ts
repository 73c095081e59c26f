// The horizontal axis: steps, steps since the start, epochs or wall time, and the way between them and steps.
import { useMemo } from 'preact/hooks';
import { getColumns, type Report, type RunDetail } from './api';
import { useLoaded } from './loading';
import { duration, number, step } from './words';

export type AxisKind = 'step' | 'relative' | 'epoch' | 'time';

export interface Axis {
  kind: AxisKind;
  toX(run: string, step: number): number;
  toStep(run: string, x: number): number;
  words(x: number): string;
}

const kKnots = 2000;
/** Places where both a step and its time or epoch are known, both rising. */
type Knots = [step: number, x: number][];

function rising(pairs: [number, number | null | undefined][]): Knots {
  const knots: Knots = [];
  for (const [at, x] of pairs) {
    const last = knots.at(-1);
    if (x != null && (!last || (at > last[0] && x > last[1]))) knots.push([at, x]);
  }
  return knots;
}

/** Straight lines between the knots, and on beyond the first and the last. */
function between(knots: Knots, from: 0 | 1, value: number): number {
  const to = from === 0 ? 1 : 0;
  let low = 0;
  let high = knots.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (knots[middle]![from] <= value) low = middle;
    else high = middle;
  }
  const [a, b] = [knots[low]!, knots[high]!];
  return a[to] + ((value - a[from]) / (b[from] - a[from])) * (b[to] - a[to]);
}

async function knotsOf(run: RunDetail, report: Report, kind: AxisKind): Promise<Knots> {
  if (kind === 'time') {
    if (!run.clock) return [];
    const { first_step, time } = await getColumns({ run: run.id, name: run.clock }, null, kKnots);
    const start = time?.find((value) => value !== null) ?? 0;
    return rising(first_step.map((at, i) => [at, time?.[i] == null ? null : time[i]! - start]));
  }
  const name = [report.roles.epoch ?? []].flat()[0];
  if (!name) return [];
  const { first_step, mean } = await getColumns({ run: run.id, name }, null, kKnots);
  return rising(first_step.map((at, i) => [at, mean[i]]));
}

/** Which axes all of these runs can be drawn along. */
export function axesOf(runs: { run: RunDetail; report: Report }[]): AxisKind[] {
  const kinds: AxisKind[] = ['step'];
  if (runs.length > 1) kinds.push('relative');
  if (runs.every(({ report }) => [report.roles.epoch ?? []].flat().length > 0)) kinds.push('epoch');
  if (runs.every(({ run }) => run.clock)) kinds.push('time');
  return kinds;
}

/** The axis of that kind, or steps for as long as it is not known or cannot be had. */
export function useAxis(kind: AxisKind, runs: { run: RunDetail; report: Report }[]): Axis {
  const wanted = kind === 'epoch' || kind === 'time';
  const key = runs.map(({ run }) => run.id).join(' ');
  // Nothing yet and nothing wanted are the same axis: charts need not ask for their numbers twice.
  const { value = null } = useLoaded(
    async () => (wanted ? new Map(await Promise.all(runs.map(async ({ run, report }) => [run.id, await knotsOf(run, report, kind)] as const))) : null),
    `${kind} ${key}`,
    runs.map(({ run }) => run.steps.last).join(' '),
  );
  const starts = runs.map(({ run }) => run.steps.first).join(' ');
  return useMemo((): Axis => {
    if (value && [...value.values()].every((knots) => knots.length > 1)) {
      return {
        kind,
        toX: (run, at) => between(value.get(run)!, 0, at),
        toStep: (run, x) => between(value.get(run)!, 1, x),
        words: kind === 'time' ? duration : (x) => number(x),
      };
    }
    if (kind === 'relative') {
      const first = new Map(runs.map(({ run }) => [run.id, run.steps.first]));
      return { kind, toX: (run, at) => at - first.get(run)!, toStep: (run, x) => x + first.get(run)!, words: step };
    }
    return { kind: 'step', toX: (_, at) => at, toStep: (_, x) => x, words: step };
  }, [value, kind, key, starts]);
}
