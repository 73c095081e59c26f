// Which series are drawn together: those that mean the same.
import type { Report } from './api';

export interface Group {
  title: string;
  series: string[];
}

export const kGroups: [title: string, roles: string[]][] = [
  ['Loss', ['train-loss', 'validation-loss']],
  ['Accuracy', ['train-accuracy', 'validation-accuracy']],
  ['Metric', ['train-metric', 'validation-metric']],
  ['Reward', ['reward']],
  ['Gradient norm', ['gradient-norm']],
  ['Learning rate', ['learning-rate']],
  ['Loss scale', ['loss-scale']],
];
const kMostInGroup = 7;

/** The series of a role, the best first. */
export const inRole = (report: Report, role: string): string[] => [report.roles[role] ?? []].flat();

/** The charts a reader wants to see first: one for each meaning that the report found. */
export function groupsOf(report: Report, names: string[]): Group[] {
  const there = new Set(names);
  const groups = kGroups
    .map(([title, roles]) => ({ title, series: roles.flatMap((role) => inRole(report, role)).filter((name) => there.has(name)).slice(0, kMostInGroup) }))
    .filter((group) => group.series.length > 0);
  return groups.length > 0 ? groups : names.slice(0, 4).map((name) => ({ title: name.slice(0, 80), series: [name] }));
}
