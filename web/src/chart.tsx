// Chart: some series over one axis, with the band from lowest to highest value, so that no spike is ever hidden.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type Columns, getColumns, type Range, type SeriesKey } from './api';
import type { Axis } from './axis';
import { kRowsPerLine, tableOf } from './curve';
import { pooled } from './grouping';
import { colour, faded, lineColour, useTheme } from './palette';
import { kPaperWidth, onPrint, useWidth } from './paper';
import { Save } from './save';
import { dashOf, Swatch } from './swatch';
import { decadesIn } from './ticks';
import { viewAfterKey, zoomed } from './view';
import { number, tickWords } from './words';

const kHeight = 210;
const kSync = 'osler';
const kFetchAfter = 90;
// How far apart ticks may lie on the horizontal axis; there is nothing between two steps.
const kIncrements = Array.from({ length: 25 }, (_, i) => 10 ** (i - 9)).flatMap((unit) => [unit, 2 * unit, 5 * unit]);
const kWholeIncrements = kIncrements.filter((increment) => increment >= 1);
const isWhole = (axis: Axis) => axis.kind === 'step' || axis.kind === 'relative';

export interface Line extends SeriesKey {
  label: string;
  /** Its number among the colours; its place in the chart when nothing is said. */
  ink?: number;
  /** The line is the mean of these. */
  members?: SeriesKey[];
  /** It has nothing to do with the others and is measured by an axis of its own, on the right. */
  right?: boolean;
}

/** Something to point at: a stretch, or a place where both ends are the same. */
export interface Place extends Range {
  kind: 'evidence' | 'restart' | 'end' | 'parting';
  text?: string;
}

export interface ChartProps {
  title: string;
  lines: Line[];
  axis: Axis;
  whole: Range;
  view: Range | null;
  smoothing: number;
  places: Place[];
  levels: number[];
  revision: unknown;
  onView: (view: Range | null) => void;
  onClose?: () => void;
  /** Further things to do with the chart, beside its buttons. */
  tools?: ComponentChildren;
}

interface Drawn {
  columns: Columns[];
  lines: Line[];
  axis: Axis;
  places: Place[];
  levels: number[];
}

function inFrame(plot: uPlot, draw: (ctx: CanvasRenderingContext2D, box: uPlot.BBox, unit: number) => void) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.textAlign = 'left';
  ctx.textBaseline = 'alphabetic';
  draw(ctx, bbox, devicePixelRatio);
  ctx.restore();
}

/** The stretches of the chosen finding and the number it was held against, below the curves. */
function drawEvidence(plot: uPlot, drawn: Drawn) {
  inFrame(plot, (ctx, box, unit) => {
    const warm = colour('--critical');
    for (const place of drawn.places) {
      if (place.kind !== 'evidence') continue;
      const left = plot.valToPos(place.from, 'x', true);
      const right = plot.valToPos(place.to, 'x', true);
      ctx.fillStyle = faded(warm, 0.13);
      ctx.fillRect(left - unit, box.top, Math.max(right - left, 0) + 2 * unit, box.height);
      ctx.fillStyle = warm;
      ctx.fillRect(left - unit, box.top, Math.max(right - left, 0) + 2 * unit, 2 * unit);
    }
    ctx.strokeStyle = warm;
    ctx.fillStyle = warm;
    ctx.lineWidth = unit;
    ctx.font = `${11 * unit}px system-ui, sans-serif`;
    for (const level of drawn.levels) {
      const y = Math.round(plot.valToPos(level, 'y', true)) + 0.5;
      ctx.setLineDash([6 * unit, 4 * unit]);
      ctx.beginPath();
      ctx.moveTo(box.left, y);
      ctx.lineTo(box.left + box.width, y);
      ctx.stroke();
      ctx.fillText(`compared with ${number(level)}`, box.left + 6 * unit, y - 4 * unit);
    }
  });
}

/** Restarts, ends, partings and values that are not finite, above the curves. */
function drawPlaces(plot: uPlot, drawn: Drawn) {
  inFrame(plot, (ctx, box, unit) => {
    ctx.lineWidth = unit;
    ctx.font = `${10 * unit}px system-ui, sans-serif`;
    let free = -Infinity;
    for (const place of drawn.places) {
      if (place.kind === 'evidence') continue;
      const ink = colour(place.kind === 'parting' ? '--critical' : '--faint');
      ctx.strokeStyle = ink;
      ctx.fillStyle = ink;
      ctx.setLineDash(place.kind === 'parting' ? [] : [4 * unit, 3 * unit]);
      const x = Math.round(plot.valToPos(place.from, 'x', true)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(x, box.top);
      ctx.lineTo(x, box.top + box.height);
      ctx.stroke();
      const width = ctx.measureText(place.text ?? '').width;
      const at = x + 4 * unit + width > box.left + box.width ? x - 4 * unit - width : x + 4 * unit;
      if (!place.text || at < free) continue;
      free = at + width + 6 * unit;
      ctx.fillText(place.text, at, box.top + 13 * unit);
    }
    ctx.setLineDash([]);
    ctx.fillStyle = colour('--nonfinite');
    const bottom = box.top + box.height;
    drawn.columns.forEach((columns, i) => {
      columns.nonfinite.forEach((count, at) => {
        if (count === 0) return;
        const x = plot.valToPos(drawn.axis.toX(drawn.lines[i]!.run, columns.first_step[at]!), 'x', true);
        ctx.beginPath();
        ctx.moveTo(x, bottom - 9 * unit);
        ctx.lineTo(x - 4 * unit, bottom);
        ctx.lineTo(x + 4 * unit, bottom);
        ctx.fill();
      });
    });
  });
}

/** How a line is drawn: in which colour, and by which axis. */
export interface Stroke {
  ink: number;
  scale: 'y' | 'right';
}

interface Setup {
  width: number;
  strokes: Stroke[];
  log: boolean;
  rightLog: boolean;
  smooth: boolean;
  drawn: { current: Drawn };
  view: { current: Range };
  onView: (view: Range | null) => void;
  onCursor: (x: number | null) => void;
}

function seriesOf(strokes: Stroke[], smooth: boolean) {
  const series: uPlot.Series[] = [{ label: 'x' }];
  const bands: uPlot.Band[] = [];
  const none = { show: false };
  for (const { ink: i, scale } of strokes) {
    const ink = () => lineColour(i);
    const at = series.length;
    series.push({ scale, stroke: '#0000', points: none }, { scale, stroke: '#0000', points: none });
    bands.push({ series: [at + 1, at], fill: () => faded(lineColour(i), 0.26) });
    const dash = dashOf(i);
    series.push({ scale, stroke: smooth ? () => faded(lineColour(i), 0.35) : ink, width: smooth ? 1 : 1.4, dash: smooth ? [] : dash, points: smooth ? none : { size: 4, fill: ink } });
    series.push({ scale, stroke: ink, width: 2, dash, show: smooth, points: none });
  }
  return { series, bands };
}

/** Shift and a drag move the view; a drag alone chooses a new one. */
function startPan(plot: uPlot, event: MouseEvent, setup: Setup) {
  const start = { ...setup.view.current };
  const perPixel = (start.to - start.from) / (plot.bbox.width / devicePixelRatio);
  const move = (now: MouseEvent) => {
    const by = (event.clientX - now.clientX) * perPixel;
    setup.onView({ from: start.from + by, to: start.to + by });
  };
  const end = () => {
    removeEventListener('mousemove', move);
    removeEventListener('mouseup', end);
  };
  addEventListener('mousemove', move);
  addEventListener('mouseup', end);
}

/** A finger drawn across the chart chooses a new view, as a drag of the mouse does; up and down still scroll the page. */
function followFinger(plot: uPlot, onView: (view: Range) => void) {
  const { over } = plot;
  let start: number | null = null;
  const placeOf = (event: PointerEvent) => event.clientX - over.getBoundingClientRect().left;
  over.addEventListener('pointerdown', (event) => {
    start = event.pointerType === 'touch' && event.isPrimary ? placeOf(event) : null;
  });
  over.addEventListener('pointermove', (event) => {
    if (start === null) return;
    const at = placeOf(event);
    plot.setCursor({ left: at, top: 1 });
    plot.setSelect({ left: Math.min(start, at), top: 0, width: Math.abs(at - start), height: over.clientHeight }, false);
  });
  const end = (event: PointerEvent) => {
    if (start === null) return;
    const [from, to] = [start, placeOf(event)].sort((a, b) => a - b) as [number, number];
    start = null;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (event.type === 'pointerup' && to - from > 20) onView({ from: plot.posToVal(from, 'x'), to: plot.posToVal(to, 'x') });
  };
  over.addEventListener('pointerup', end);
  over.addEventListener('pointercancel', end);
}

function optionsOf(setup: Setup): uPlot.Options {
  const axis: uPlot.Axis = { stroke: () => colour('--faint'), grid: { stroke: () => colour('--grid'), width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
  const heights = (log: boolean): uPlot.Axis => ({ ...axis, size: 58, values: (_, ticks) => tickWords(ticks), ...(log && { splits: (_plot, _axis, low, high) => decadesIn(low, high), filter: (_plot, ticks) => ticks }) });
  const right = setup.strokes.some(({ scale }) => scale === 'right');
  return {
    width: setup.width,
    height: kHeight,
    ...seriesOf(setup.strokes, setup.smooth),
    legend: { show: false },
    padding: [10, 12, 0, 0],
    scales: { x: { time: false, auto: false, range: () => [setup.view.current.from, setup.view.current.to] }, y: { distr: setup.log ? 3 : 1 }, ...(right && { right: { distr: setup.rightLog ? 3 : 1 } }) },
    axes: [
      { ...axis, size: 26, space: 90, incrs: () => (isWhole(setup.drawn.current.axis) ? kWholeIncrements : kIncrements), values: (_, ticks) => ticks.map((v) => setup.drawn.current.axis.words(v)) },
      heights(setup.log),
      ...(right ? [{ ...heights(setup.rightLog), scale: 'right', side: 1, grid: { show: false } } as uPlot.Axis] : []),
    ],
    cursor: {
      sync: { key: kSync, setSeries: false },
      drag: { x: true, y: false, setScale: false, dist: 4 },
      points: { size: 6 },
      bind: {
        mousedown: (plot, _, handler) => (event) => {
          if (event.shiftKey) startPan(plot, event, setup);
          else handler(event);
          return null;
        },
      },
    },
    hooks: {
      drawAxes: [(plot) => drawEvidence(plot, setup.drawn.current)],
      draw: [(plot) => drawPlaces(plot, setup.drawn.current)],
      setCursor: [(plot) => setup.onCursor(plot.cursor.idx == null ? null : (plot.data[0][plot.cursor.idx] ?? null))],
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          const from = plot.posToVal(plot.select.left, 'x');
          const to = plot.posToVal(plot.select.left + plot.select.width, 'x');
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (to > from) setup.onView({ from, to });
        },
      ],
    },
  };
}

/** The columns of all lines for the view and some more on both sides, asked for anew whenever it or a run changes. */
function useColumns(props: ChartProps, width: number) {
  const [state, setState] = useState<{ columns: Columns[]; lines: Line[] }>({ columns: [], lines: [] });
  const [error, setError] = useState('');
  const membersOf = (line: Line) => line.members ?? [line];
  const names = props.lines.map((line) => membersOf(line).map((key) => `${key.run} ${key.name}`).join('\t')).join('\n');
  const asked = useRef('');
  useLayoutEffect(() => {
    if (width === 0) return;
    const abort = new AbortController();
    const ask = () => {
      const { view, axis, lines } = props;
      const spare = view ? (view.to - view.from) / 2 : 0;
      const stepsOf = (key: SeriesKey) => (view ? { from: axis.toStep(key.run, view.from - spare), to: axis.toStep(key.run, view.to + spare) } : null);
      const curveOf = (key: SeriesKey) => getColumns(key, stepsOf(key), width * (view ? 2 : 1), abort.signal);
      Promise.all(lines.map(async (line) => pooled(await Promise.all(membersOf(line).map(curveOf))))).then(
        (columns) => {
          setState({ columns, lines });
          setError('');
        },
        (why: Error) => why.name !== 'AbortError' && setError(why.message),
      );
    };
    // While the view is moved, what is there is drawn; only where it comes to rest the rest is asked for.
    const first = asked.current !== names || state.columns.length === 0;
    asked.current = names;
    const timer = first ? (ask(), 0) : setTimeout(ask, kFetchAfter);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [names, props.axis, props.view?.from, props.view?.to, width, props.revision]);
  return { ...state, error };
}

function indexAt(data: Columns, axis: Axis, run: string, x: number | null): number {
  const last = data.first_step.length - 1;
  if (x === null) return last;
  let low = 0;
  let high = last;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (axis.toX(run, data.first_step[middle]!) <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

const kUnits: Record<Axis['kind'], string> = { step: 'step', relative: 'step', epoch: 'epoch', time: 'after' };

/** Where the cursor is, and the values under it or the newest ones. */
function Legend({ columns, lines, axis, at }: { columns: Columns[]; lines: Line[]; axis: Axis; at: number | null }) {
  return (
    <ul class="legend">
      <li class="where">{at === null ? 'newest' : <>{kUnits[axis.kind]} <b>{axis.words(isWhole(axis) ? Math.round(at) : at)}</b></>}</li>
      {lines.map((line, i) => {
        const data = columns[i];
        const index = data ? indexAt(data, axis, line.run, at) : -1;
        const low = data?.min[index];
        const high = data?.max[index];
        const bad = data?.nonfinite[index] ?? 0;
        const rest = (data?.points[index] ?? 0) - bad;
        return (
          <li key={`${line.run} ${line.name}`}>
            <Swatch ink={line.ink ?? i} />
            <bdi title={line.name.slice(0, 500)}>{line.label.slice(0, 120)}{line.right && ' (right)'}</bdi>
            <b>
              {low === null || low === undefined ? '' : low === high ? number(low) : `${number(low)} … ${number(high)}`}
              {bad === 0 ? '' : rest === 0 ? 'not finite' : ` (${bad} not finite)`}
            </b>
          </li>
        );
      })}
    </ul>
  );
}

/** Whether the values say more on a logarithmic axis: all of them positive, over two decades. */
function spanDecades(columns: Columns[]): boolean {
  let low = Infinity;
  let high = 0;
  for (const { min, max } of columns) {
    for (const value of min) if (value !== null) low = Math.min(low, value);
    for (const value of max) if (value !== null) high = Math.max(high, value);
  }
  return low > 0 && high >= 100 * low;
}

/**
 * The plot itself: made anew when its shape changes, else only told its new numbers, size or view. Where nothing is wished
 * its first numbers say whether its axis is logarithmic.
 */
function usePlot(box: { current: HTMLDivElement | null }, props: ChartProps, width: number, wish: boolean | null, onCursor: (x: number | null) => void) {
  const plot = useRef<uPlot | null>(null);
  const dark = useTheme();
  const { columns, lines, error } = useColumns(props, width);
  const drawn = useRef<Drawn>({ columns, lines, axis: props.axis, places: [], levels: [] });
  drawn.current = { columns, lines, axis: props.axis, places: props.places, levels: props.levels };
  const view = useRef(props.view ?? props.whole);
  view.current = props.view ?? props.whole;
  const onView = useRef(props.onView);
  onView.current = props.onView;
  const smooth = props.smoothing > 0;
  const usual = useRef<boolean | null>(null);
  // The axis of the left is that of all lines where none is left to it.
  const isLeft = (line: Line) => !line.right || lines.every((other) => other.right);
  const left = columns.filter((_, i) => isLeft(lines[i]!));
  if (columns.length > 0) usual.current ??= spanDecades(left);
  const positive = useMemo(() => left.length === 0 || left.some((c) => c.max.some((v) => v !== null && v > 0)), [columns]);
  const rightLog = useMemo(() => spanDecades(columns.filter((_, i) => !isLeft(lines[i]!))), [columns]);
  const log = positive && (wish ?? usual.current ?? false);
  const reach = smooth ? props.smoothing * (view.current.to - view.current.from) : 0;
  const runs = lines.map((line) => line.run);
  const table = useMemo(() => (columns.length > 0 ? tableOf(columns, runs, props.axis, lines.map((line) => (isLeft(line) ? log : rightLog)), reach) : null), [columns, props.axis, log, rightLog, reach]);

  const strokes = lines.map((line, i): Stroke => ({ ink: line.ink ?? i, scale: isLeft(line) ? 'y' : 'right' }));
  const ready = table !== null && width > 0;
  useLayoutEffect(() => {
    if (!ready) return;
    const setup = { width, strokes, log, rightLog, smooth, drawn, view, onView: (next: Range | null) => onView.current(next), onCursor };
    const made = new uPlot(optionsOf(setup), table!, box.current!);
    made.over.addEventListener('dblclick', () => onView.current(null));
    followFinger(made, (next) => onView.current(next));
    plot.current = made;
    const forget = onPrint((paper) => {
      made.setSize({ width: paper ? kPaperWidth : width, height: kHeight });
      made.redraw();
    });
    return () => {
      forget();
      made.destroy();
      plot.current = null;
    };
  }, [ready, JSON.stringify(strokes), log, rightLog, smooth, dark]);
  useEffect(() => {
    if (!plot.current || !table || table.length !== 1 + kRowsPerLine * columns.length) return;
    plot.current.setData(table, false);
    plot.current.setScale('x', { min: view.current.from, max: view.current.to });
  }, [table]);
  useEffect(() => plot.current?.setScale('x', { min: view.current.from, max: view.current.to }), [view.current.from, view.current.to]);
  useEffect(() => void (width > 0 && plot.current?.setSize({ width, height: kHeight })), [width]);
  useEffect(() => plot.current?.redraw(false), [props.places, props.levels]);
  return { columns, lines, error, plot, positive, log, rightLog, strokes };
}

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const [wish, setWish] = useState<boolean | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const width = useWidth(box);
  const { columns, lines, error, plot, positive, log, rightLog, strokes } = usePlot(box, props, width, wish, setAt);

  const wheel = useRef<(event: WheelEvent) => void>(() => {});
  wheel.current = (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const now = props.view ?? props.whole;
    if (sideways && props.view) {
      const by = (event.deltaX / width) * (now.to - now.from);
      props.onView({ from: now.from + by, to: now.to + by });
    } else if (event.ctrlKey || event.metaKey || event.altKey) {
      const left = plot.current?.over.getBoundingClientRect().left ?? 0;
      props.onView(zoomed(props.view, props.whole, Math.exp(event.deltaY / 300), plot.current?.posToVal(event.clientX - left, 'x')));
    } else {
      return;
    }
    event.preventDefault();
  };
  useEffect(() => {
    const listener = (event: WheelEvent) => wheel.current(event);
    box.current!.addEventListener('wheel', listener, { passive: false });
    return () => box.current?.removeEventListener('wheel', listener);
  }, []);
  const key = (event: KeyboardEvent) => {
    const next = viewAfterKey(event.key, props.view, props.whole);
    if (next === undefined) return;
    event.preventDefault();
    props.onView(next);
  };

  const marked = props.places.some((place) => place.kind === 'evidence');
  return (
    <section class={`chart ${marked ? 'marked' : ''}`} aria-label={`Chart of ${props.title}`}>
      <header>
        <h3><bdi>{props.title}</bdi></h3>
        <Legend columns={columns} lines={props.lines} axis={props.axis} at={at} />
        <span class="buttons">
          <Save plot={plot} drawing={() => ({ title: props.title, labels: lines.map((line) => line.label), columns, strokes, runs: lines.map((line) => line.run), toX: props.axis.toX, words: props.axis.words, log: { y: log, right: rightLog } })} />
          <button aria-pressed={log} disabled={!positive} onClick={() => setWish(!log)} title="Logarithmic axis">log</button>
          {props.tools}
          {props.onClose && <button onClick={props.onClose} aria-label={`Close the chart of ${props.title}`}>×</button>}
        </span>
      </header>
      {error && <p class="trouble">{error}</p>}
      <div class="plot" ref={box} style={{ minHeight: `${kHeight}px` }} tabIndex={0} role="group" aria-label="Arrow keys move the view, plus and minus zoom, 0 shows all" onKeyDown={key} />
    </section>
  );
}
