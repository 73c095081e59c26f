// What part of the horizontal axis the charts of a page show, and how it is moved.
import type { Range } from './api';

/** The same stretch moved by a share of its width, inside `whole`. */
export function panned(view: Range | null, whole: Range, share: number): Range | null {
  if (!view) return null;
  const width = view.to - view.from;
  const from = Math.min(Math.max(view.from + share * width, whole.from), whole.to - width);
  return { from, to: from + width };
}

/** A stretch `factor` times as wide around `middle`; null when that is all there is. */
export function zoomed(view: Range | null, whole: Range, factor: number, middle?: number): Range | null {
  const { from, to } = view ?? whole;
  const centre = middle ?? (from + to) / 2;
  const least = (whole.to - whole.from) * 1e-9;
  const next = { from: centre - (centre - from) * factor, to: centre + (to - centre) * factor };
  if (next.to - next.from < least) return view;
  const kept = { from: Math.max(next.from, whole.from), to: Math.min(next.to, whole.to) };
  return kept.from <= whole.from && kept.to >= whole.to ? null : kept;
}

/** What a key does to the view; undefined when it does nothing. */
export function viewAfterKey(key: string, view: Range | null, whole: Range): Range | null | undefined {
  if (key === 'ArrowLeft') return panned(view, whole, -0.2);
  if (key === 'ArrowRight') return panned(view, whole, 0.2);
  if (key === '+' || key === '=') return zoomed(view, whole, 0.5);
  if (key === '-') return zoomed(view, whole, 2);
  if (key === '0') return null;
  return undefined;
}
