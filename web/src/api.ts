// The server's API: its types, and how it is asked.

export type Status = 'healthy' | 'warning' | 'critical' | 'insufficient-data' | 'unexamined' | 'unreadable';
export type Severity = 'note' | 'warning' | 'critical';

export interface Card {
  id: string;
  name: string;
  format: string;
  status: Status;
  headline: string;
  modified: number;
  steps?: { first: number; last: number; count: number };
  findings?: Record<Severity, number>;
  loss?: number | string;
  spark?: { series: string; low: (number | null)[]; high: (number | null)[] } | null;
}

export interface SeriesInfo {
  name: string;
  role: string;
  points: number;
  first_step: number;
  last_step: number;
  nonfinite: number;
  newest: number | string | null;
}

export interface Mark {
  kind: 'restart' | 'finished' | 'crashed' | 'note';
  step: number;
  text: string;
}

export interface RunDetail {
  id: string;
  name: string;
  format: string;
  status: Status;
  headline: string;
  sources: string[];
  steps: { first: number; last: number };
  series: SeriesInfo[];
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
  remedies: { text: string; change?: { name: string; from: string | null; to: string } }[];
}

export interface Report {
  status: Status;
  headline: string;
  findings: Finding[];
  causes: Cause[];
  ruled_out: { id: string; why: string }[];
  checks: { ran: string[]; not_run: { id: string; reason: string }[] };
  roles: Record<string, string | string[]>;
  damage: { total: number; lost_bytes: number };
}

export interface Columns {
  name: string;
  first_step: number[];
  last_step: number[];
  min: (number | null)[];
  max: (number | null)[];
  mean: (number | null)[];
  points: number[];
  nonfinite: number[];
}

export interface CatalogueFinding {
  id: string;
  title: string;
  needs: string[];
  doc: string;
  settings: { name: string; value: number | string; reason: string }[];
}

export interface CatalogueCause {
  id: string;
  title: string;
  doc: string;
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

async function ask<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await fetch(path, { signal, headers: { Accept: 'application/json' } });
  if (answer.ok) return (await answer.json()) as T;
  const body = (await answer.json().catch(() => null)) as { error?: string } | null;
  throw new Error(body?.error ?? `the server answered ${answer.status}`);
}

export const getRuns = () => ask<{ revision: number; runs: Card[] }>('/api/runs');
export const getRun = (id: string) => ask<RunDetail>(`/api/runs/${encodeURIComponent(id)}`);
export const getReport = (id: string) => ask<Report>(`/api/runs/${encodeURIComponent(id)}/report`);

export interface Range {
  from: number;
  to: number;
}

export function getSeries(id: string, name: string, range: Range | null, points: number, signal: AbortSignal) {
  const query = new URLSearchParams({ name, points: String(points) });
  if (range) {
    query.set('from', String(Math.floor(range.from)));
    query.set('to', String(Math.ceil(range.to)));
  }
  return ask<Columns>(`/api/runs/${encodeURIComponent(id)}/series?${query}`, signal);
}

let catalogue: Promise<Catalogue> | undefined;
/** The catalogue never changes while a server runs, so it is asked for once. */
export function getCatalogue(): Promise<Catalogue> {
  catalogue ??= ask<Catalogue>('/api/catalogue').catch((error) => {
    catalogue = undefined;
    throw error;
  });
  return catalogue;
}

export const getTree = () => ask<{ nodes: TreeNode[] }>('/api/tree');
