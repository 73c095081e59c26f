// Swatch: how a line of a chart is drawn, in its legend. Lines differ by dashes too, so that no colour is needed.
import { kLineColours } from './palette';

const kDashes: number[][] = [[], [], [7, 3], [2, 3], [7, 3, 2, 3], [12, 4], []];

/** The dashes and gaps of the line with that number, in pixels; none where it is solid. */
export const dashOf = (ink: number) => kDashes[ink % kLineColours]!;

/** The class that gives a stroke the colour of that line. */
export const strokeOf = (ink: number) => `line-${(ink % kLineColours) + 1}`;

export function Swatch({ ink }: { ink: number }) {
  return (
    <svg class="swatch" viewBox="0 0 22 4" width="22" height="4" aria-hidden="true">
      <line class={strokeOf(ink)} x1="0" x2="22" y1="2" y2="2" stroke-width="2.5" stroke-dasharray={dashOf(ink).join(' ')} />
    </svg>
  );
}
