// The page that the address names, as the parts of what stands behind its #.
import { useEffect, useState } from 'preact/hooks';

function route(): string[] {
  return location.hash.replace(/^#\/?/, '').split('/');
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
