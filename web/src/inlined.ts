// A source of answers that is written into the page itself: the HTML report.
import type { Card, Catalogue, HeatMap, Range, Report, Ridge, RunDetail, SentColumns, Source, TreeNode } from './api';

export interface Inlined {
  version: string;
  /** When, in seconds since 1970. */
  made: number;
  runs: Card[];
  details: Record<string, { run: RunDetail; report: Report; heat: { maps: HeatMap[] }; ridges: Record<string, Ridge>; series: Record<string, SentColumns> }>;
  catalogue: Catalogue;
  tree: { nodes: TreeNode[] };
}

/** The entries of all columns that touch the steps, and one more on both sides. */
function cut(columns: SentColumns, steps: Range | null): SentColumns {
  if (!steps) return columns;
  const firsts = columns.first_step;
  const lasts = columns.last_step ?? firsts;
  let begin = lasts.findIndex((last) => last >= steps.from);
  if (begin < 0) begin = firsts.length;
  let end = begin;
  while (end < firsts.length && firsts[end]! <= steps.to) ++end;
  begin = Math.max(0, begin - 1);
  ++end;
  const part = <T,>(values: T[] | null | undefined) => (values ? values.slice(begin, end) : undefined);
  return {
    name: columns.name,
    first_step: columns.first_step.slice(begin, end),
    mean: columns.mean.slice(begin, end),
    last_step: part(columns.last_step),
    points: part(columns.points),
    min: part(columns.min),
    max: part(columns.max),
    nonfinite: part(columns.nonfinite),
    time: part(columns.time) ?? null,
  };
}

export function inlinedSource(data: Inlined): Source {
  const detail = async (id: string) => {
    const found = data.details[id];
    if (!found) throw new Error('This file had no room for this run; its line in the list is all it holds.');
    return found;
  };
  return {
    live: false,
    runs: async () => ({ searched: true, runs: data.runs }),
    table: () => Promise.resolve(new Map()),
    run: async (id) => {
      const { run, series } = await detail(id);
      return { ...run, series: run.series.filter((one) => one.name in series) };
    },
    report: async (id) => (await detail(id)).report,
    series: async (key, steps) => {
      const columns = (await detail(key.run)).series[key.name];
      if (!columns) throw new Error('This file had no room for this series.');
      return cut(columns, steps);
    },
    layers: async (id) => (await detail(id)).heat.maps,
    distribution: async (id, name) => {
      const ridge = (await detail(id)).ridges[name];
      if (!ridge) throw new Error('This file had no room for this distribution.');
      return ridge;
    },
    compare: async () => {
      throw new Error('Runs are compared by osler compare and osler serve.');
    },
    catalogue: async () => data.catalogue,
    tree: async () => data.tree.nodes,
  };
}
