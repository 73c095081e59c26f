// The bar above the charts: which axis, how much smoothing, what part is shown.
import type { Range } from './api';
import type { Axis, AxisKind } from './axis';

const kNames: Record<AxisKind, string> = { step: 'Step', relative: 'From start', epoch: 'Epoch', time: 'Time' };
/** How far the smoothing reaches, as a share of what is in view, for the positions of its slider. */
const kReach = [0, 0.005, 0.01, 0.02, 0.04, 0.08];

export interface Look {
  axis: AxisKind;
  smoothing: number;
}

interface PanelProps {
  kinds: AxisKind[];
  look: Look;
  axis: Axis;
  view: Range | null;
  onLook: (look: Look) => void;
  onView: (view: Range | null) => void;
}

export function Panel({ kinds, look, axis, view, onLook, onView }: PanelProps) {
  return (
    <div class="panel">
      {kinds.length > 1 && (
        <span class="switch" role="group" aria-label="Horizontal axis">
          {kinds.map((kind) => <button key={kind} aria-pressed={look.axis === kind} onClick={() => onLook({ ...look, axis: kind })}>{kNames[kind]}</button>)}
        </span>
      )}
      <label class="choice">
        Smoothing
        <input type="range" min={0} max={kReach.length - 1} step={1} value={kReach.indexOf(look.smoothing)} aria-valuetext={look.smoothing === 0 ? 'none' : `over ${look.smoothing * 100} % of the view`} onInput={(e) => onLook({ ...look, smoothing: kReach[Number(e.currentTarget.value)]! })} />
      </label>
      <span class="zoom">
        {view ? (
          <>{axis.words(Math.floor(view.from))} to {axis.words(Math.ceil(view.to))} <button onClick={() => onView(null)}>Show all</button></>
        ) : (
          <span class="quiet">Drag to zoom, Shift-drag to move, Escape shows all.</span>
        )}
      </span>
    </div>
  );
}
