// A value that comes from the server: not there yet, there, or why it could not be had.
import { useLayoutEffect, useState } from 'preact/hooks';

export interface Loaded<T> {
  value?: T;
  error?: string;
}

/** Asks again whenever `key` changes; the old value stays until the new one is there, unless `subject` is another. */
export function useLoaded<T>(ask: () => Promise<T>, subject: string, key: unknown = 0): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { subject: string }>({ subject });
  // The answer is on its way while the page is still being painted.
  useLayoutEffect(() => {
    let current = true;
    ask().then(
      (value) => current && setState({ value, subject }),
      (error: unknown) => current && setState((old) => ({ value: old.value, error: String((error as Error).message ?? error), subject })),
    );
    return () => void (current = false);
  }, [subject, key]);
  return state.subject === subject ? state : {};
}
