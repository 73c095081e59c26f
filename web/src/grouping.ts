// Grouping: runs that differ by their seed alone, or that share a setting, taken together.
import type { Columns } from './api';

export interface Group<T> {
  /** What its members share and others do not. */
  label: string;
  members: T[];
}

type Settings = Record<string, string>;

/** The grouping of runs whose settings are the same but for the seed. */
export const kBySeed = 'seed';
/** Settings that tell runs apart and not what they do. */
const kPrivate = /(^|[._/ -])(seed|random_state|rng|name|run_?name|run_?id|id|uuid|group|tags?|notes?|time(stamp)?|date|start(ed)?|host(name)?|pid|port|device|rank|user|git_?\w*|commit|version|\w*(dir|path|folder|file))$/i;

const isPrivate = (key: string) => kPrivate.test(key);

/** Settings by which these runs can be grouped: known of several runs, not the same for all, and shared by some. */
export function groupingKeys(all: Settings[]): string[] {
  const values = new Map<string, string[]>();
  for (const settings of all) for (const [key, value] of Object.entries(settings)) values.set(key, [...(values.get(key) ?? []), value]);
  return [...values].filter(([key, list]) => !isPrivate(key) && list.length > 2 && new Set(list).size > 1 && new Set(list).size < list.length).map(([key]) => key).sort();
}

/** The settings in which groups differ, as the label of each. */
function labelsOf(groups: Settings[]): string[] {
  const keys = [...new Set(groups.flatMap(Object.keys))].filter((key) => !isPrivate(key) && new Set(groups.map((settings) => settings[key])).size > 1).sort();
  return groups.map((settings, i) => {
    // What a run does not set says nothing beside what it does.
    const set = keys.filter((key) => settings[key] !== undefined);
    const told = (set.length > 0 ? set : keys).slice(0, 3).map((key) => `${key}=${settings[key] ?? 'not set'}`);
    return told.join(' ') || (groups.length === 1 ? 'all' : `group ${i + 1}`);
  });
}

/** What can be grouped: something with a name and settings. */
interface Grouped<T> {
  nameOf: (item: T) => string;
  settingsOf: (item: T) => Settings;
}

/** The groups in the order of their first members. A run of which no setting is known is like no other. */
export function groupsOf<T>(items: T[], { nameOf, settingsOf }: Grouped<T>, by: string): Group<T>[] {
  const groups = new Map<string, T[]>();
  const alone = new Map<string, string>();
  items.forEach((item, i) => {
    const known = Object.entries(settingsOf(item)).filter(([name]) => !isPrivate(name)).sort();
    let key = by === kBySeed ? JSON.stringify(known) : (settingsOf(item)[by] ?? '');
    if (by === kBySeed && known.length === 0) alone.set((key = `alone ${i}`), nameOf(item));
    groups.set(key, [...(groups.get(key) ?? []), item]);
  });
  const labels = labelsOf([...groups].filter(([key]) => !alone.has(key)).map(([, members]) => settingsOf(members[0]!)));
  let next = 0;
  return [...groups].map(([key, members]) => ({ label: alone.get(key) ?? (by === kBySeed ? labels[next++]! : `${by}=${key || 'not set'}`), members }));
}

/** The mean of numbers and how far they scatter; nothing of none, no scatter of one. */
export function meanOf(values: number[]): { mean: number; deviation: number | null } | null {
  if (values.length === 0) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (values.length === 1) return { mean, deviation: null };
  return { mean, deviation: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)) };
}

/**
 * The curves of several runs as one: their mean, and the band from the lowest of them to the highest. A run counts from its
 * first step to its last, with the value that it last had; where it is not finite it does not count and is told of.
 */
export function pooled(all: Columns[]): Columns {
  if (all.length === 1) return all[0]!;
  const steps = [...new Set(all.flatMap((columns) => columns.first_step))].sort((a, b) => a - b);
  const result: Columns = { name: all[0]?.name ?? '', first_step: steps, last_step: steps, time: null, min: [], max: [], mean: [], points: [], nonfinite: [] };
  const at = all.map(() => -1);
  for (const step of steps) {
    const values: number[] = [];
    let broken = 0;
    all.forEach((columns, i) => {
      while (at[i]! + 1 < columns.first_step.length && columns.first_step[at[i]! + 1]! <= step) ++at[i]!;
      const place = at[i]!;
      if (place < 0 || step > columns.last_step[columns.last_step.length - 1]!) return;
      const value = columns.mean[place];
      if (value === null || value === undefined) broken += 1;
      else values.push(value);
    });
    result.min.push(values.length > 0 ? Math.min(...values) : null);
    result.max.push(values.length > 0 ? Math.max(...values) : null);
    result.mean.push(meanOf(values)?.mean ?? null);
    result.points.push(values.length + broken);
    result.nonfinite.push(broken);
  }
  return result;
}
