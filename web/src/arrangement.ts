// How a reader arranges the charts of a page: which stand first, and what is drawn in them. The address keeps it.
import { useState } from 'preact/hooks';
import { kept, useKept } from './route';

/** A line and the chart it is in, as one word of the address: neither a title nor a name has a tab in it. */
const placed = (chart: string, name: string) => `${chart}\t${name}`;
const toggled = (all: string[], one: string) => (all.includes(one) ? all.filter((other) => other !== one) : [...all, one]);

/** Charts that were asked for, those that stand first, lines drawn over others and lines left out. */
export function useArrangement() {
  const [added, setAdded] = useState<string[]>(() => kept().getAll('series'));
  const [pinned, setPinned] = useState<string[]>(() => kept().getAll('pin'));
  const [over, setOver] = useState<string[]>(() => kept().getAll('over'));
  const [less, setLess] = useState<string[]>(() => kept().getAll('without'));
  useKept({ series: added, pin: pinned, over, without: less });
  return {
    added,
    add: (name: string) => setAdded([...new Set([...added, name])]),
    close: (name: string) => setAdded(added.filter((one) => one !== name)),
    isPinned: (chart: string) => pinned.includes(chart),
    pin: (chart: string) => setPinned(toggled(pinned, chart)),
    /** Whether a line that a chart has by itself is left out of it. */
    isLeftOut: (chart: string, name: string) => less.includes(placed(chart, name)),
    leaveOut: (chart: string, name: string) => setLess(toggled(less, placed(chart, name))),
    /** What is drawn over a chart, on an axis of its own. */
    over: (chart: string) => over.filter((one) => one.startsWith(`${chart}\t`)).map((one) => one.slice(chart.length + 1)),
    overlay: (chart: string, name: string) => setOver(toggled(over, placed(chart, name))),
  };
}

export type Arrangement = ReturnType<typeof useArrangement>;

/** Those that were pinned first, in the order in which they come. */
export function pinnedFirst<T extends { title: string }>(charts: T[], { isPinned }: Arrangement): T[] {
  return [...charts.filter(({ title }) => isPinned(title)), ...charts.filter(({ title }) => !isPinned(title))];
}
