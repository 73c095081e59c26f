// What the pages know of runs: the types of the server's API, and where its answers come from.

export type Status = 'healthy' | 'warning' | 'critical' | 'insufficient-data' | 'unexamined' | 'unreadable';
export type Severity = 'note' | 'warning' | 'critical';

export interface Card {
  id: string;
  name: string;
  format: string;
  status: Status;
  headline: string;
  modified: number;
  /** Somebody is done with it: it is listed apart. */
  archived?: boolean;
  steps?: { first: number; last: number; count: number };
  findings?: Record<Severity, number>;
  loss?: number | string | null;
  /** One letter for each column of a small curve. */
  spark?: { series: string; low: string; high: string } | null;
}

/** Configuration and figures of a run, for columns of the list. */
export interface TableRow {
  configuration: Record<string, string>;
  metrics: Record<string, number | string>;
}

/** All runs; before the server has searched its folders once some may be missing. */
export interface RunList {
  searched: boolean;
  runs: Card[];
  /** What lies below the served folders and was not taken for a run. */
  left_out?: { count: number; files: { path: string; why: string }[] };
}

export interface SeriesInfo {
  name: string;
  role: string;
  points: number;
  first_step: number;
  last_step: number;
  nonfinite: number;
  /** By which it is asked for where its name is too long for an address. */
  number: number | null;
}

export interface Mark {
  kind: 'restart' | 'finished' | 'crashed' | 'note';
  step: number;
  text: string;
}

/** Where a value that is not finite came from. */
export interface Origin {
  step: number;
  cause: string;
  text: string;
}

export interface RunDetail {
  id: string;
  name: string;
  format: string;
  status: Status;
  headline: string;
  sources: string[];
  steps: { first: number; last: number; count: number };
  series: SeriesInfo[];
  series_in_all: number;
  layer_series: number;
  histograms: string[];
  levels: { finding: string; series: string; value: number }[];
  origin: Origin | null;
  clock: string | null;
  /** Wall times of its first and newest point, in seconds since 1970. */
  times: { first: number; last: number } | null;
  marks: Mark[];
  configuration: Record<string, string>;
  way: { id: string; answer: 'yes' | 'no' | 'unknown'; because: string }[];
}

export interface Evidence {
  series: string;
  steps: [number, number];
  observed: number | string;
  threshold: number | string | null;
  text: string;
}

export interface Finding {
  id: string;
  severity: Severity;
  confidence: number;
  first_step: number;
  last_step: number;
  layers: string[];
  summary: string;
  evidence: Evidence[];
}

export interface Reason {
  finding: string;
  weight: number;
  text: string;
}

export interface Cause {
  id: string;
  probability: number;
  for: Reason[];
  against: Reason[];
  settle: { probe: string; text: string };
  remedies: { text: string; change?: { name: string; from: string | null; to: string }; code?: { language: string; text: string } }[];
}

export type Outcome = 'passed' | 'failed' | 'undecided' | 'stopped';
export type Measure = number | string;

export interface Experiment {
  probe: string;
  step: number;
  outcome: Outcome;
  verdict: string;
  values: { name: string; value: Measure; low?: Measure; high?: Measure }[];
  columns: { name: string; values: Measure[] }[];
  checks: { id: string; outcome: Outcome; text: string }[];
}

export interface Report {
  run: { steps?: { first: number; last: number } };
  prognosis?: { text: string };
  status: Status;
  headline: string;
  findings: Finding[];
  causes: Cause[];
  ruled_out: { id: string; why: string }[];
  checks: { ran: string[]; not_run: { id: string; reason: string }[] };
  roles: Record<string, string | string[]>;
  metrics: Record<string, number | string>;
  experiments?: Experiment[];
  damage: { total: number; lost_bytes: number };
}

/** A stretch of a series: one entry for each point, or for many drawn together. */
export interface Columns {
  name: string;
  first_step: number[];
  last_step: number[];
  time: (number | null)[] | null;
  min: (number | null)[];
  max: (number | null)[];
  mean: (number | null)[];
  points: number[];
  nonfinite: number[];
}

/** The same as it is sent: what follows from the rest is left out. */
export type SentColumns = Pick<Columns, 'name' | 'first_step' | 'mean'> & Partial<Columns>;

/** Layers by time. */
export interface HeatMap {
  heading: string;
  rows: string[];
  edges: number[];
  log: boolean;
  cells: (number | 'inf' | null)[];
}

/** How a distribution moves. */
export interface Ridge {
  name: string;
  rows: { step: number; edges: number[]; masses: number[] }[];
}

export interface ComparedSide {
  series: string;
  start: Measure;
  best: Measure;
  end: Measure;
  lost_after: number | null;
}

export interface Comparison {
  axis: 'step' | 'epoch' | 'tokens';
  from: number;
  to: number;
  headline: string;
  standing: 'same' | 'better' | 'worse' | 'unclear';
  standing_reason: 'difference' | 'crashed' | 'nonfinite' | 'critical-finding' | 'stopped-early';
  verdict: string;
  reports: [Report, Report];
  first: string | null;
  facts: string[];
  series: {
    role: string;
    a: ComparedSide;
    b: ComparedSide;
    difference: Measure;
    standard_errors: Measure;
    parting: { at: number; standard_errors: Measure; a: Measure; b: Measure } | null;
    identical_until: number | null;
  }[];
  config: { key: string; a: string; b: string }[];
  only_a: string[];
  only_b: string[];
}

export interface CatalogueFinding {
  id: string;
  title: string;
  needs: string[];
  /** Missing in a file that has no room for all pages. */
  doc?: string;
  settings: { name: string; value: number | string; reason: string }[];
}

export interface CatalogueCause {
  id: string;
  title: string;
  doc?: string;
  prior: number;
  pulls: { finding: string; if_found: number; if_absent: number; why: string }[];
  settle: string;
}

export interface Catalogue {
  findings: CatalogueFinding[];
  causes: CatalogueCause[];
}

export interface TreeNode {
  id: string;
  text: string;
  findings: string[];
  yes: string;
  no: string;
  causes: string[];
}

/** One thing of a playground's training that can be set. */
export interface Knob {
  name: string;
  doc: string;
  kind: 'choice' | 'number' | 'whole' | 'flag';
  value: string;
  choices?: string[];
  least?: number;
  most?: number;
  logarithmic?: boolean;
  optional?: boolean;
}

export interface Patient {
  id: string;
  title: string;
  story: string;
  lesson: string;
  healthy: boolean;
  settings: Record<string, string>;
}

/** What the playground offers; `available` is false where the server cannot train. */
export type Choices = { available: false; why: string } | {
  available: true;
  proof: string;
  at_once: number;
  seconds: number;
  treatment_seconds: number;
  kept: number;
  knobs: Knob[];
  probes: { name: string; question: string; trained: boolean }[];
  patients: Patient[];
};

export interface CourseOutcome {
  steps: number;
  stopped: boolean;
  drawn_digits: boolean;
  true_loss: number | null;
  true_accuracy: number | null;
}

export interface TreatmentResult {
  trials: { cause: string; remedy: string; name: string; to: string; before: number | null; after: number | null; kept: boolean; why: string }[];
  for_a_person: string[];
  prescribed: boolean;
  changes: { name: string; from: string; to: string }[];
  outcome?: CourseOutcome;
}

export interface ProbeResult {
  experiments: Experiment[];
  words: string;
}

/** A training of the playground, the treatment of one, or a probe on one. */
export interface Job {
  id: number;
  of: number | null;
  state: 'running' | 'done' | 'stopped' | 'timed-out' | 'failed';
  phase: string;
  probe: string | null;
  patient: string | null;
  settings: Record<string, string>;
  seed: number;
  run: string | null;
  progress: { step?: number; steps?: number; loss?: number | null; seconds_left?: number };
  result: CourseOutcome | TreatmentResult | ProbeResult | null;
  error: string | null;
}

export interface CourseFile {
  name: string;
  text: string;
}

export interface CourseExercise {
  number: number;
  title: string;
  text: string;
  checked: boolean;
  files: CourseFile[];
}

export interface Lesson {
  number: number;
  name: string;
  title: string;
  text: string;
  exercises: CourseExercise[];
}

export interface Range {
  from: number;
  to: number;
}

/** Which series of which run. */
export interface SeriesKey {
  run: string;
  name: string;
  number?: number | null;
}

/** Where the pages have everything from. */
export interface Source {
  /** Whether runs may change while they are looked at. */
  live: boolean;
  runs(): Promise<RunList>;
  table(): Promise<Map<string, TableRow>>;
  run(id: string): Promise<RunDetail>;
  report(id: string): Promise<Report>;
  series(key: SeriesKey, steps: Range | null, points: number, signal?: AbortSignal): Promise<SentColumns>;
  layers(id: string, steps: Range | null, signal?: AbortSignal): Promise<HeatMap[]>;
  distribution(id: string, name: string): Promise<Ridge>;
  compare(a: string, b: string): Promise<Comparison>;
  catalogue(): Promise<Catalogue>;
  tree(): Promise<TreeNode[]>;
}

async function ask<T>(path: string, signal?: AbortSignal, change: RequestInit = {}): Promise<T> {
  const answer = await fetch(path, { signal, ...change });
  if (answer.ok) return (await answer.json()) as T;
  const body = (await answer.json().catch(() => null)) as { error?: string } | null;
  throw new Error(body?.error ?? `the server answered ${answer.status}`);
}

const runPath = (id: string) => `/api/runs/${encodeURIComponent(id)}`;

function stepQuery(steps: Range | null, query: Record<string, string> = {}) {
  const all = new URLSearchParams(query);
  if (steps) {
    all.set('from', String(Math.floor(steps.from)));
    all.set('to', String(Math.ceil(steps.to)));
  }
  return all;
}

const server: Source = {
  live: true,
  runs: () => ask('/api/runs'),
  table: async () => new Map(Object.entries((await ask<{ runs: Record<string, TableRow> }>('/api/table')).runs)),
  run: (id) => ask(runPath(id)),
  report: (id) => ask(`${runPath(id)}/report`),
  series: (key, steps, points, signal) => {
    const which: Record<string, string> = key.number == null ? { name: key.name } : { number: String(key.number) };
    return ask(`${runPath(key.run)}/series?${stepQuery(steps, { ...which, points: String(points) })}`, signal);
  },
  layers: async (id, steps, signal) => (await ask<{ maps: HeatMap[] }>(`${runPath(id)}/layers?${stepQuery(steps)}`, signal)).maps,
  distribution: (id, name) => ask(`${runPath(id)}/distribution?${new URLSearchParams({ name })}`),
  compare: (a, b) => ask(`/api/compare?${new URLSearchParams({ a, b })}`),
  catalogue: () => ask('/api/catalogue'),
  tree: async () => (await ask<{ nodes: TreeNode[] }>('/api/tree')).nodes,
};

export let source: Source = server;
/** Takes everything from elsewhere; called once, before the first page. */
export function setSource(other: Source) {
  source = other;
}

/** The columns of a stretch of a series. */
export async function getColumns(key: SeriesKey, steps: Range | null, points: number, signal?: AbortSignal): Promise<Columns> {
  const sent = await source.series(key, steps, points, signal);
  return {
    ...sent,
    last_step: sent.last_step ?? sent.first_step,
    points: sent.points ?? sent.first_step.map(() => 1),
    min: sent.min ?? sent.mean,
    max: sent.max ?? sent.mean,
    nonfinite: sent.nonfinite ?? sent.first_step.map(() => 0),
    time: sent.time ?? null,
  };
}

/** What never changes is asked for once. */
function once<T>(get: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= get().catch((error) => {
      answer = undefined;
      throw error;
    });
    return answer;
  };
}

/** Asked for anew each time: a server that was started again has another proof. */
export const getChoices = () => ask<Choices>('/api/playground');

/** Asks the server to train, treat, probe or stop something; only a page of its own knows the proof. */
export async function changeJob(what: 'train' | 'treat' | 'probe' | 'cancel', body: object): Promise<Job> {
  const choices = await getChoices();
  if (!choices.available) throw new Error(choices.why);
  return ask(`/api/playground/${what}`, undefined, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Osler-Proof': choices.proof },
    body: JSON.stringify(body),
  });
}

export const getLessons = once(async () => (await ask<{ lessons: Lesson[] }>('/api/learn')).lessons);
export const checkAnswer = (exercise: number, answer: string) => ask<{ right: boolean; text: string }>(`/api/learn/check?${new URLSearchParams({ exercise: String(exercise), answer })}`);
export const getSolution = (exercise: number) => ask<{ text: string; files: CourseFile[] }>(`/api/learn/solution?exercise=${exercise}`);
export const getCatalogue = once(() => source.catalogue());
export const getTree = once(() => source.tree());
