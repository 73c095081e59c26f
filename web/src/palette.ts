// Colours as the style sheet names them, for what is drawn on a canvas.
import { useEffect, useState } from 'preact/hooks';

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Adds transparency to a colour written as #rrggbb. */
export function faded(hex: string, share: number): string {
  return hex + Math.round(share * 255).toString(16).padStart(2, '0');
}

export const kLineColours = 7;
export const lineColour = (i: number) => colour(`--line-${(i % kLineColours) + 1}`);

// Cividis in nine steps: rising in lightness, and the same to every kind of colour vision.
const kRamp = [
  [0, 34, 78], [33, 58, 110], [67, 78, 108], [98, 100, 111], [125, 124, 120], [155, 149, 119], [187, 175, 113], [222, 204, 97], [254, 232, 56],
] as const;

/** The colour of a share from 0 to 1. */
export function ramp(share: number): [number, number, number] {
  const at = Math.min(Math.max(share, 0), 1) * (kRamp.length - 1);
  const i = Math.min(Math.floor(at), kRamp.length - 2);
  const [a, b] = [kRamp[i]!, kRamp[i + 1]!];
  const mix = (k: 0 | 1 | 2) => Math.round(a[k] + (b[k] - a[k]) * (at - i));
  return [mix(0), mix(1), mix(2)];
}

/** Changes whenever all colours do. */
export function useTheme(): boolean {
  const [dark, setDark] = useState(matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const listener = () => setDark(query.matches);
    query.addEventListener('change', listener);
    return () => query.removeEventListener('change', listener);
  }, []);
  return dark;
}
