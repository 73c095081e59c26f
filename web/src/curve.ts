// The numbers behind a chart: columns on one axis, and a smoothed line beside them.
import uPlot from 'uplot';
import type { Columns } from './api';
import type { Axis } from './axis';

/** How many rows of numbers each line has: lowest, highest, mean, smoothed. */
export const kRowsPerLine = 4;

/** A mean that forgets along the axis, over a part of what is in view. Gaps stay gaps. */
export function smoothed(xs: number[], means: (number | null)[], points: number[], reach: number): (number | null)[] {
  let sum = 0;
  let weight = 0;
  let last = xs[0] ?? 0;
  return means.map((value, i) => {
    const keep = Math.exp(-(xs[i]! - last) / reach);
    last = xs[i]!;
    sum *= keep;
    weight *= keep;
    if (value === null) return null;
    sum += value * points[i]!;
    weight += points[i]!;
    return sum / weight;
  });
}

/** All lines as uPlot wants them. On a logarithmic axis only what is above zero can be drawn. */
export function tableOf(columns: Columns[], runs: string[], axis: Axis, logs: boolean[], reach: number): uPlot.AlignedData {
  const fitting = (log: boolean) => (values: (number | null)[]) => (log ? values.map((v) => (v !== null && v > 0 ? v : null)) : values);
  const tables = columns.map((c, i) => {
    const xs = axis.kind === 'step' ? c.first_step : c.first_step.map((at) => axis.toX(runs[i]!, at));
    const fit = fitting(logs[i]!);
    const smooth = reach > 0 ? smoothed(xs, c.mean, c.points, reach) : c.mean;
    return [xs, fit(c.min), fit(c.max), fit(c.mean), fit(smooth)] as uPlot.AlignedData;
  });
  return tables.length === 1 ? tables[0]! : uPlot.join(tables);
}
