// Heat map: every layer by time as colour, on the same axis as the charts.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type HeatMap, type Range, type RunDetail, source } from './api';
import type { Axis } from './axis';
import { useLoaded } from './loading';
import { colour, ramp, useTheme } from './palette';
import { kPaperWidth, onPrint, useWidth } from './paper';
import { number, step } from './words';

const kMostLabels = 170;
const kLeastRow = 12;
const kMostRow = 22;
const kTallest = 520;

/** The range of the finite cells, in decades where the map is logarithmic. */
function scaleOf(map: HeatMap) {
  const fit = (v: number) => (map.log ? Math.log10(v) : v);
  let low = Infinity;
  let high = -Infinity;
  for (const cell of map.cells) {
    if (typeof cell !== 'number' || (map.log && cell <= 0)) continue;
    low = Math.min(low, fit(cell));
    high = Math.max(high, fit(cell));
  }
  const share = (cell: number) => (map.log && cell <= 0 ? 0 : high > low ? (fit(cell) - low) / (high - low) : 0.5);
  const value = (v: number) => (map.log ? 10 ** v : v);
  return { share, low: value(low), high: value(high), empty: low > high };
}

function draw(canvas: HTMLCanvasElement, map: HeatMap, place: (edge: number) => number, width: number, row: number) {
  const unit = devicePixelRatio;
  const height = map.rows.length * row;
  canvas.width = Math.max(1, Math.round(width * unit));
  canvas.height = Math.max(1, Math.round(height * unit));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const ctx = canvas.getContext('2d')!;
  const { share } = scaleOf(map);
  const columns = map.edges.length - 1;
  const places = map.edges.map((edge) => place(edge) * unit);
  const bad = colour('--nonfinite');
  ctx.fillStyle = colour('--panel');
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  for (let r = 0; r < map.rows.length; ++r) {
    const top = Math.round(r * row * unit);
    const bottom = Math.round((r + 1) * row * unit);
    for (let c = 0; c < columns; ++c) {
      const cell = map.cells[r * columns + c];
      if (cell === null || cell === undefined) continue;
      const left = Math.floor(places[c]!);
      ctx.fillStyle = cell === 'inf' ? bad : `rgb(${ramp(share(cell)).join(' ')})`;
      ctx.fillRect(left, top, Math.max(Math.ceil(places[c + 1]!) - left, 1), bottom - top);
    }
  }
}

function Key({ map }: { map: HeatMap }) {
  const scale = scaleOf(map);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const ctx = canvas.current!.getContext('2d')!;
    for (let x = 0; x < 90; ++x) {
      ctx.fillStyle = `rgb(${ramp(x / 89).join(' ')})`;
      ctx.fillRect(x, 0, 1, 10);
    }
  }, []);
  return (
    <span class="key" hidden={scale.empty}>
      {number(scale.low)} <canvas ref={canvas} width={90} height={10} aria-hidden="true" /> {number(scale.high)}
      {map.log ? ' (log)' : ''}
      {map.cells.includes('inf') && <span class="bad-key"><i class="swatch bad" /> not finite</span>}
    </span>
  );
}

/** What one cell of a map shows. */
function wordsOf(map: HeatMap, row: number, column: number): string {
  const columns = map.edges.length - 1;
  if (column < 0 || column >= columns || !map.rows[row]) return '';
  const cell = map.cells[row * columns + column];
  const value = cell === 'inf' ? 'not finite' : cell === null || cell === undefined ? 'nothing recorded' : number(cell);
  return `${map.rows[row]!.slice(0, 80)}, steps ${step(map.edges[column]!)} to ${step(map.edges[column + 1]!)}: ${value}`;
}

function Map({ map, run, axis, view }: { map: HeatMap; run: string; axis: Axis; view: Range }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const dark = useTheme();
  const [cell, setCell] = useState<{ row: number; column: number } | null>(null);
  const columns = map.edges.length - 1;
  const narrow = matchMedia('(max-width: 760px)').matches;
  const row = Math.min(kMostRow, Math.max(kLeastRow, kTallest / map.rows.length));
  const labels = Math.min(kMostLabels, 8 + 6.4 * Math.max(...map.rows.map((name) => name.length)));
  const plotWidth = Math.max(0, width - (narrow ? 0 : labels + 12));
  const place = (edge: number, over: number) => ((axis.toX(run, edge) - view.from) / (view.to - view.from)) * over;
  useEffect(() => {
    if (plotWidth === 0) return;
    const paint = (over: number) => draw(canvas.current!, map, (edge) => place(edge, over), over, row);
    paint(plotWidth);
    return onPrint((paper) => paint(paper ? kPaperWidth - labels - 12 : plotWidth));
  }, [map, plotWidth, row, view.from, view.to, axis, dark]);
  const look = (event: MouseEvent) => {
    const edges = map.edges.map((edge) => place(edge, plotWidth));
    setCell({ row: Math.floor(event.offsetY / row), column: edges.filter((edge) => edge <= event.offsetX).length - 1 });
  };
  const walk = (event: KeyboardEvent) => {
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    if (!down && !right) return;
    event.preventDefault();
    const inside = (at: number, count: number) => Math.min(Math.max(at, 0), count - 1);
    setCell((old) => (old ? { row: inside(old.row + down!, map.rows.length), column: inside(old.column + right!, columns) } : { row: 0, column: 0 }));
  };
  return (
    <section class="chart heat" aria-label={map.heading}>
      <header>
        <h3>{map.heading}</h3>
        <span class="said" role="status"><bdi>{cell && wordsOf(map, cell.row, cell.column)}</bdi></span>
        <Key map={map} />
      </header>
      <div class="map" ref={box}>
        <ol class="rows-of" style={{ width: `${labels}px` }}>
          {map.rows.map((name) => <li key={name} title={name.slice(0, 500)} style={{ height: `${row}px`, lineHeight: `${row}px` }}><bdi>{name.slice(0, 120)}</bdi></li>)}
        </ol>
        <div>
          <canvas ref={canvas} role="img" aria-label={`${map.heading}: ${map.rows.length} layers by time`} tabIndex={0} onMouseMove={look} onMouseLeave={() => setCell(null)} onKeyDown={walk} onBlur={() => setCell(null)} />
          <ol class="ticks rows-of" aria-hidden="true">{[0, 0.25, 0.5, 0.75, 1].map((share) => <li key={share}>{axis.words(Math.round(view.from + share * (view.to - view.from)))}</li>)}</ol>
        </div>
      </div>
    </section>
  );
}

export function HeatMaps({ run, axis, view, whole, revision }: { run: RunDetail; axis: Axis; view: Range | null; whole: Range; revision: unknown }) {
  const steps = useMemo(() => (view && source.live ? { from: axis.toStep(run.id, view.from), to: axis.toStep(run.id, view.to) } : null), [view?.from, view?.to, axis, run.id]);
  const [settled, setSettled] = useState(steps);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(steps), 200);
    return () => clearTimeout(timer);
  }, [steps]);
  const { value, error } = useLoaded(() => source.layers(run.id, settled), run.id, `${settled?.from} ${settled?.to} ${String(revision)}`);
  if (error) return <p class="trouble">{error}</p>;
  if (!value || value.length === 0) return null;
  return (
    <section aria-labelledby="layers">
      <h2 id="layers">Layers by time</h2>
      {value.map((map) => <Map key={map.heading} map={map} run={run.id} axis={axis} view={view ?? whole} />)}
    </section>
  );
}
