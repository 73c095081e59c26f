// The bar above the charts: which axis, how much smoothing, what part is shown.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Range } from './api';
import type { Axis, AxisKind } from './axis';
import { keep, kept } from './route';

const kNames: Record<AxisKind, string> = { step: 'Step', relative: 'From start', epoch: 'Epoch', time: 'Time' };
/** How far the smoothing reaches, as a share of what is in view, for the positions of its slider. */
const kReach = [0, 0.005, 0.01, 0.02, 0.04, 0.08];

export interface Look {
  axis: AxisKind;
  smoothing: number;
}

const kKinds = Object.keys(kNames);

/** Axis, smoothing and what part is shown, kept in the address. */
export function useLook() {
  const start = useMemo(() => kept(), []);
  const [look, setLookAlone] = useState<Look>(() => {
    const axis = start.get('axis') ?? '';
    const smoothing = Number(start.get('smoothing'));
    return { axis: kKinds.includes(axis) ? (axis as AxisKind) : 'step', smoothing: kReach.includes(smoothing) ? smoothing : 0 };
  });
  const [view, setView] = useState<Range | null>(() => {
    const [from, to] = [Number(start.get('from') ?? NaN), Number(start.get('to') ?? NaN)];
    return to > from && Number.isFinite(to - from) ? { from, to } : null;
  });
  const setLook = (next: Look) => {
    if (next.axis !== look.axis) setView(null);
    setLookAlone(next);
  };
  useEffect(() => {
    // While it is dragged the view changes with every frame, and browsers allow only so many changes of an address.
    const words = (value: number) => String(Number(value.toPrecision(8)));
    const timer = setTimeout(() => keep({ axis: look.axis === 'step' ? null : look.axis, smoothing: look.smoothing ? String(look.smoothing) : null, from: view && words(view.from), to: view && words(view.to) }), 200);
    return () => clearTimeout(timer);
  }, [look, view]);
  return { look, setLook, view, setView };
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
          <span class="quiet"><span class="with-mouse">Drag to zoom, Shift-drag to move, Escape shows all.</span><span class="with-fingers">Draw a finger across a chart to zoom, tap twice to see all.</span></span>
        )}
      </span>
    </div>
  );
}
