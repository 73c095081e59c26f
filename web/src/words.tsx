// How numbers, times and verdicts are written.
import { useEffect, useState } from 'preact/hooks';
import type { Severity, Status } from './api';

const power = (value: number) => value.toExponential(2).replace(/\.?0*e([+-])(\d)$/, 'e$10$2').replace(/\.?0*e/, 'e');

/** A number as the terminal writes it: four digits, thousands set apart, powers of ten for what is very large or small. */
export function number(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value === 'nan' ? 'NaN' : value === 'inf' ? 'Inf' : value === '-inf' ? '-Inf' : value;
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return power(value);
  if (size < 1e-3) return String(Number(value.toPrecision(3)));
  if (size >= 1000 || Number.isInteger(value)) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(4)));
}

/** The numbers along an axis, written alike: what is small beside the others takes no power of ten. */
export function tickWords(values: (number | null)[]): string[] {
  const largest = Math.max(...values.map((value) => Math.abs(value ?? 0)));
  const plain = (value: number) => largest >= 1e-3 && largest < 1e6 && (value === 0 || Math.abs(value) >= largest * 1e-3);
  return values.map((value) => (value === null ? '' : plain(value) ? Number(value.toPrecision(4)).toLocaleString('en', { maximumSignificantDigits: 4 }) : Math.abs(value) >= 1e4 ? power(value) : number(value)));
}

/** A step as the terminal writes it: 1,495. */
export const step = (value: number) => value.toLocaleString('en');

/** A point in time, the same for every reader. */
export const moment = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** A name that may be broken where its parts meet. */
export const Breakable = ({ name }: { name: string }) => <bdi>{name.split(/(?<=[/._])/).map((part) => [part, <wbr />])}</bdi>;

/** How long ago, in the largest unit that fits. */
function age(seconds: number): string {
  if (!seconds) return '';
  const passed = Math.max(0, Date.now() / 1000 - seconds);
  const units: [number, string][] = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  for (const [size, name] of units) if (passed >= size) return `${Math.floor(passed / size)} ${name}`;
  return 'now';
}

/** How long ago, as time goes on. */
export function Age({ seconds }: { seconds: number }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 10_000);
    return () => clearInterval(timer);
  }, []);
  return <>{age(seconds)}</>;
}

/** How long, in the two largest units that fit. */
export function duration(seconds: number): string {
  const size = Math.abs(seconds);
  const sign = seconds < 0 ? '−' : '';
  const units: [number, string][] = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  for (let i = 0; i < units.length; ++i) {
    const [unit, name] = units[i]!;
    if (size < unit) continue;
    const whole = Math.floor(size / unit);
    const next = units[i + 1];
    const rest = next ? Math.floor((size - whole * unit) / next[0]) : 0;
    return `${sign}${whole} ${name}${rest > 0 ? ` ${rest} ${next![1]}` : ''}`;
  }
  return `${sign}${number(size)} s`;
}

export const percent = (share: number) => (share > 0.99 ? '> 99 %' : share < 0.01 ? '< 1 %' : `${Math.round(share * 100)} %`);

const kNames: Record<Status | Severity, string> = {
  healthy: 'Healthy',
  warning: 'Warning',
  critical: 'Critical',
  note: 'Note',
  'insufficient-data': 'Too little data',
  unexamined: 'Waiting',
  unreadable: 'Unreadable',
};

export const statusName = (status: Status | Severity) => kNames[status] ?? status;

/** A verdict as shape, colour and word, so that none of them is needed alone. */
export function Badge({ status, shape = false }: { status: Status | Severity; shape?: boolean }) {
  return (
    <span class={`badge ${status}`}>
      <svg viewBox="0 0 12 12" width="11" height="11" aria-hidden="true">
        {status === 'critical' ? (
          <path d="M6 0.5 11.5 6 6 11.5 0.5 6Z" fill="currentColor" />
        ) : status === 'warning' ? (
          <path d="M6 1 11.5 11H0.5Z" fill="currentColor" />
        ) : status === 'healthy' ? (
          <circle cx="6" cy="6" r="5" fill="currentColor" />
        ) : (
          <circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" stroke-width="1.6" />
        )}
      </svg>
      {!shape && <span>{statusName(status)}</span>}
    </span>
  );
}
