// Which series are drawn together: those that mean the same.
import type { Report } from './api';

export interface Group {
  title: string;
  series: string[];
}

export const kGroups: [title: string, roles: string[]][] = [
  ['Loss', ['train-loss', 'validation-loss', 'generator-loss', 'discriminator-loss', 'policy-loss', 'value-loss']],
  ['Accuracy', ['train-accuracy', 'validation-accuracy']],
  ['Metric', ['train-metric', 'validation-metric']],
  ['Reward', ['reward', 'evaluation-reward']],
  ['Gradient norm', ['gradient-norm']],
  ['Learning rate', ['learning-rate']],
  ['Loss scale', ['loss-scale']],
];
const kMostInGroup = 7;

/**
 * What the machine does, by the usual names: W&B's system/gpu.0.memoryAllocated, Lightning's gpu_id: 0/utilization.gpu, Hugging Face's
 * train_samples_per_second, and what people write themselves. A series belongs to the first that fits.
 */
const kMachine: [title: string, name: RegExp][] = [
  ['Temperature', /(gpu|cuda|cpu|system).*temp(erature)?|^temperature[._](gpu|cpu)/i],
  ['Power', /(gpu|cuda|system).*power|power.?watts|power[._]draw/i],
  ['GPU memory', /(gpu|cuda|vram|hbm).*(mem|alloc|reserved)|(mem|alloc|reserved).*(gpu|cuda)|^vram|(allocated|reserved)_bytes\.all\.(current|peak)/i],
  ['GPU use', /gpu.*util|util\w*[._]gpu|gpu[._/ ]*(use|usage|load)|^system[./]gpu\.\d+\.gpu$|\bmfu\b/i],
  ['CPU use', /(^|[./_ ])cpu([._/ ]?(util\w*|use|usage|load|percent))?$|proc\.cpu/i],
  ['Memory', /^(system[./])?(memory|ram|rss)([._ ]?(percent|used|usage|mb|gb))?$|proc\.memory|(cpu|host|system|virtual)[._/ ]?(memory|ram)/i],
  ['Speed', /(samples|tokens?|tok|images?|imgs?|examples|steps?|iter(ation)?s?|its?|frames|batches)[ _./-]*(per|\/|p)[ _-]*s(ec(ond)?)?$|throughput|(^|[/_. ])(fps|tps|wps|tgs)$/i],
  ['Time of a step', /(step|iter(ation)?|batch|data|forward|backward|optimizer?|load(er|ing)?)[ _./-]*(time|duration|seconds|secs?|ms)(_?(ms|s))?$|^(time|ms|sec)[ _./](per[ _])?(step|iter|batch)$/i],
];

/** Charts of what the machine did, where the log tells it. */
export function machineGroupsOf(names: string[]): Group[] {
  const groups = kMachine.map(([title]) => ({ title, series: [] as string[] }));
  for (const name of names) {
    const at = kMachine.findIndex(([, pattern]) => pattern.test(name));
    if (at >= 0 && groups[at]!.series.length < kMostInGroup) groups[at]!.series.push(name);
  }
  return groups.filter((group) => group.series.length > 0);
}

/** The series of a role, the best first. */
export const inRole = (report: Report, role: string): string[] => [report.roles[role] ?? []].flat();

/** The charts a reader wants to see first: one for each meaning that the report found. */
export function groupsOf(report: Report, names: string[]): Group[] {
  const there = new Set(names);
  const groups = kGroups
    .map(([title, roles]) => ({ title, series: roles.flatMap((role) => inRole(report, role)).filter((name) => there.has(name)).slice(0, kMostInGroup) }))
    .filter((group) => group.series.length > 0);
  const taken = new Set(groups.flatMap((group) => group.series));
  const machine = machineGroupsOf(names.filter((name) => !taken.has(name)));
  return groups.length > 0 ? [...groups, ...machine] : names.slice(0, 4).map((name) => ({ title: name.slice(0, 80), series: [name] }));
}
