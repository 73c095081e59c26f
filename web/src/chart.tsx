// Chart: some series over the steps, with the band from lowest to highest value, so that no spike is ever hidden.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type Columns, type Evidence, getSeries, type Mark, type Range } from './api';
import { number, step as stepWords } from './words';

const kHeight = 210;
const kSync = 'osler';

export interface ChartProps {
  run: string;
  title: string;
  series: string[];
  range: Range | null;
  evidence: Evidence[];
  marks: Mark[];
  revision: unknown;
  onZoom: (range: Range | null) => void;
  onClose?: () => void;
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Adds transparency to a colour written as #rrggbb. */
function faded(hex: string, share: number): string {
  return hex + Math.round(share * 255).toString(16).padStart(2, '0');
}

const lineColour = (i: number) => colour(`--line-${(i % 7) + 1}`);

/** The columns of several series on one axis of steps: for each series lowest, highest and mean. */
function align(columns: Columns[], log: boolean): uPlot.AlignedData {
  const fit = (values: (number | null)[]) => (log ? values.map((v) => (v !== null && v > 0 ? v : null)) : values);
  const tables = columns.map((c) => [c.first_step, fit(c.min), fit(c.max), fit(c.mean)] as uPlot.AlignedData);
  return tables.length === 1 ? tables[0]! : uPlot.join(tables);
}

interface Drawn {
  columns: Columns[];
  evidence: Evidence[];
  marks: Mark[];
}

/** The stretches of the chosen finding, below the curves. */
function drawEvidence(plot: uPlot, drawn: Drawn) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const warm = colour('--critical');
  for (const fact of drawn.evidence) {
    const left = plot.valToPos(fact.steps[0], 'x', true);
    const right = plot.valToPos(fact.steps[1], 'x', true);
    ctx.fillStyle = faded(warm, 0.13);
    ctx.fillRect(left - 1, bbox.top, Math.max(right - left, 2) + 2, bbox.height);
    ctx.fillStyle = warm;
    ctx.fillRect(left - 1, bbox.top, Math.max(right - left, 2) + 2, 2 * devicePixelRatio);
  }
  ctx.restore();
}

/** Restarts and values that are not finite, above the curves. */
function drawMarks(plot: uPlot, drawn: Drawn) {
  const { ctx, bbox } = plot;
  const unit = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = unit;
  ctx.setLineDash([4 * unit, 3 * unit]);
  ctx.strokeStyle = colour('--faint');
  for (const mark of drawn.marks) {
    if (mark.kind === 'note') continue;
    const x = Math.round(plot.valToPos(mark.step, 'x', true)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.setLineDash([]);
  ctx.fillStyle = colour('--nonfinite');
  for (const columns of drawn.columns) {
    columns.nonfinite.forEach((count, i) => {
      if (count === 0) return;
      const x = plot.valToPos(columns.first_step[i]!, 'x', true);
      const bottom = bbox.top + bbox.height;
      ctx.beginPath();
      ctx.moveTo(x, bottom - 9 * unit);
      ctx.lineTo(x - 4 * unit, bottom);
      ctx.lineTo(x + 4 * unit, bottom);
      ctx.fill();
    });
  }
  ctx.restore();
}

function options(width: number, columns: Columns[], log: boolean, drawn: { current: Drawn }, zoom: (range: Range | null) => void): uPlot.Options {
  const axis = { stroke: colour('--faint'), grid: { stroke: colour('--grid'), width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
  const lines: uPlot.Series[] = [{ label: 'step' }];
  const bands: uPlot.Band[] = [];
  columns.forEach((_, i) => {
    const ink = lineColour(i);
    const at = lines.length;
    lines.push({ stroke: faded(ink, 0), points: { show: false } }, { stroke: faded(ink, 0), points: { show: false } });
    bands.push({ series: [at + 1, at], fill: faded(ink, 0.28) });
    lines.push({ stroke: ink, width: 1.4, points: { size: 4, fill: ink } });
  });
  return {
    width,
    height: kHeight,
    series: lines,
    bands,
    legend: { show: false },
    padding: [10, 12, 0, 0],
    scales: { x: { time: false }, y: { distr: log ? 3 : 1 } },
    axes: [
      { ...axis, size: 26, values: (_: uPlot, ticks: number[]) => ticks.map((v) => stepWords(v)) },
      { ...axis, size: 58, values: (_: uPlot, ticks: (number | null)[]) => ticks.map((v) => (v === null ? '' : number(v))) },
    ],
    cursor: { sync: { key: kSync, setSeries: false }, drag: { x: true, y: false, setScale: false, dist: 4 }, points: { size: 6 } },
    hooks: {
      drawAxes: [(plot) => drawEvidence(plot, drawn.current)],
      draw: [(plot) => drawMarks(plot, drawn.current)],
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          const from = plot.posToVal(plot.select.left, 'x');
          const to = plot.posToVal(plot.select.left + plot.select.width, 'x');
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (to - from >= 1) zoom({ from, to });
        },
      ],
    },
  };
}

/** The columns of all series for the range, asked for anew whenever it or the run changes. */
function useColumns(props: ChartProps, width: number) {
  const [columns, setColumns] = useState<Columns[]>([]);
  const [error, setError] = useState('');
  const names = props.series.join('\n');
  useEffect(() => {
    if (width === 0) return;
    const abort = new AbortController();
    Promise.all(props.series.map((name) => getSeries(props.run, name, props.range, width, abort.signal))).then(
      (all) => {
        setColumns(all);
        setError('');
      },
      (why: Error) => why.name !== 'AbortError' && setError(why.message),
    );
    return () => abort.abort();
  }, [props.run, names, props.range?.from, props.range?.to, width, props.revision]);
  return { columns, error };
}

function useWidth(box: { current: HTMLDivElement | null }) {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  return width;
}

function useTheme(): boolean {
  const [dark, setDark] = useState(matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const listener = () => setDark(query.matches);
    query.addEventListener('change', listener);
    return () => query.removeEventListener('change', listener);
  }, []);
  return dark;
}

/** The values under the cursor, or the newest ones. */
function Legend({ columns, series, at }: { columns: Columns[]; series: string[]; at: number | null }) {
  return (
    <ul class="legend">
      {series.map((name, i) => {
        const data = columns[i];
        let index = data ? data.first_step.length - 1 : -1;
        if (data && at !== null) {
          index = data.first_step.findIndex((first) => first > at) - 1;
          if (index === -2) index = data.first_step.length - 1;
          index = Math.max(index, 0);
        }
        const low = data?.min[index];
        const high = data?.max[index];
        const bad = data?.nonfinite[index] ?? 0;
        return (
          <li key={name}>
            <i class={`swatch line-${(i % 7) + 1}`} />
            <bdi title={name}>{name.slice(0, 120)}</bdi>
            <b>
              {low === null || low === undefined ? '' : low === high ? number(low) : `${number(low)} … ${number(high)}`}
              {bad > 0 ? ` ${bad} not finite` : ''}
            </b>
          </li>
        );
      })}
    </ul>
  );
}

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const drawn = useRef<Drawn>({ columns: [], evidence: [], marks: [] });
  const [log, setLog] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const width = useWidth(box);
  const dark = useTheme();
  const { columns, error } = useColumns(props, width);
  drawn.current = { columns, evidence: props.evidence, marks: props.marks };
  const zoom = useRef(props.onZoom);
  zoom.current = props.onZoom;
  const positive = columns.some((c) => c.max.some((v) => v !== null && v > 0));

  useEffect(() => {
    if (columns.length === 0 || width === 0) return;
    const setup = options(width, columns, log && positive, drawn, (range) => zoom.current(range));
    setup.hooks!.setCursor = [(u) => setAt(u.cursor.idx == null ? null : (u.data[0][u.cursor.idx] ?? null))];
    const made = new uPlot(setup, align(columns, log && positive), box.current!);
    made.over.addEventListener('dblclick', () => zoom.current(null));
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = null;
    };
  }, [columns, width, log, dark]);
  useEffect(() => plot.current?.redraw(false), [props.evidence, props.marks]);

  const marked = props.evidence.length > 0;
  return (
    <section class={`chart ${marked ? 'marked' : ''}`} data-series={props.series.join('\n')} aria-label={`Chart of ${props.title}`}>
      <header>
        <h3>{props.title}</h3>
        <Legend columns={columns} series={props.series} at={at} />
        <span class="buttons">
          <button aria-pressed={log} disabled={!positive} onClick={() => setLog(!log)} title="Logarithmic axis">log</button>
          {props.onClose && <button onClick={props.onClose} aria-label={`Close the chart of ${props.title}`}>×</button>}
        </span>
      </header>
      {error && <p class="trouble">{error}</p>}
      <div class="plot" ref={box} style={{ minHeight: `${kHeight}px` }} />
    </section>
  );
}
