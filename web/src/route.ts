// The page that the address names, as the parts of what stands behind its #, and what it keeps of how the page is looked at.
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

const address = () => location.hash.replace(/^#\/?/, '');

function route(): string[] {
  return address().split('?')[0]!.split('/');
}

/** What stands behind the question mark. */
export function kept(): URLSearchParams {
  return new URLSearchParams(address().split('?')[1] ?? '');
}

/** Writes into the address what is not empty and forgets what is, so that a link shows what is seen now. */
export function keep(values: Record<string, string | string[] | null>) {
  const all = kept();
  for (const [name, value] of Object.entries(values)) {
    all.delete(name);
    for (const one of [value ?? []].flat()) all.append(name, one);
  }
  const text = all.toString();
  const next = `#/${address().split('?')[0]}${text ? `?${text}` : ''}`;
  if (next !== location.hash && !(next === '#/' && location.hash === '')) history.replaceState(null, '', next);
}

/** Keeps `values` in the address whenever they change, before the page is painted: a link copied right away shows what is seen. */
export function useKept(values: Record<string, string | string[] | null>) {
  useLayoutEffect(() => keep(values), [JSON.stringify(values)]);
}

export function useRoute(): string[] {
  const [parts, setParts] = useState(route());
  useEffect(() => {
    const listener = () => {
      setParts(route());
      scrollTo(0, 0);
    };
    addEventListener('hashchange', listener);
    return () => removeEventListener('hashchange', listener);
  }, []);
  return parts;
}
