// Taking a chart away: as a picture, as a drawing, or as the numbers behind it.
import type uPlot from 'uplot';
import type { Columns } from './api';
import type { Stroke } from './chart';
import { colour, lineColour } from './palette';
import { dashOf } from './swatch';
import { number, tickWords } from './words';

/** What is drawn: the lines with their columns, how and by which axes, and which of those are logarithmic. */
export interface Drawing {
  title: string;
  labels: string[];
  columns: Columns[];
  strokes: Stroke[];
  runs: string[];
  toX: (run: string, step: number) => number;
  words: (x: number) => string;
  log: Record<Stroke['scale'], boolean>;
}

const kWidth = 900;
const kHeight = 360;
const kFrame = { left: 70, right: 64, top: 56, bottom: 34 };

const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!);
const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** One line for each column of each series: what a spreadsheet or a script reads. */
export function csvOf({ labels, columns }: Pick<Drawing, 'labels' | 'columns'>): string {
  const rows = columns.flatMap((data, i) =>
    data.first_step.map((first, at) => [quoted(labels[i]!), first, data.last_step[at], data.points[at], data.min[at] ?? '', data.mean[at] ?? '', data.max[at] ?? '', data.nonfinite[at]].join(',')),
  );
  return `series,first_step,last_step,points,min,mean,max,nonfinite\n${rows.join('\n')}\n`;
}

/** Round numbers between two others, both of them within. */
function ticksOf(low: number, high: number, log: boolean): number[] {
  if (log) {
    const decades = [];
    for (let at = Math.ceil(Math.log10(low) - 1e-9); at <= Math.log10(high) + 1e-9; ++at) decades.push(10 ** at);
    if (decades.length > 1) return decades;
  }
  const rough = (high - low) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((candidate) => candidate >= rough)!;
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) ticks.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return ticks;
}

/** The chart as a drawing that can be scaled. */
export function svgOf(drawing: Drawing, plot: uPlot): string {
  const x = { min: plot.scales.x!.min!, max: plot.scales.x!.max! };
  const [wide, high] = [kWidth - kFrame.left - kFrame.right, kHeight - kFrame.top - kFrame.bottom];
  const atX = (value: number) => kFrame.left + ((value - x.min) / (x.max - x.min)) * wide;
  const rangeOf = (scale: Stroke['scale']) => ({ min: plot.scales[scale]!.min!, max: plot.scales[scale]!.max! });
  const atY = (value: number, scale: Stroke['scale']) => {
    const fit = (height: number) => (drawing.log[scale] ? Math.log(height) : height);
    const { min, max } = rangeOf(scale);
    return kFrame.top + (1 - (fit(value) - fit(min)) / (fit(max) - fit(min))) * high;
  };
  const at = (px: number, py: number) => `${px.toFixed(1)} ${py.toFixed(1)}`;
  const shapes: string[] = [];
  const text = (px: number, py: number, words: string, more: string) => shapes.push(`<text x="${px.toFixed(1)}" y="${py.toFixed(1)}" ${more}>${escaped(words)}</text>`);
  for (const scale of ['y', 'right'] as const) {
    if (!drawing.strokes.some((stroke) => stroke.scale === scale)) continue;
    const ticks = ticksOf(rangeOf(scale).min, rangeOf(scale).max, drawing.log[scale]);
    tickWords(ticks).forEach((words, i) => {
      const height = atY(ticks[i]!, scale);
      if (scale === 'y') shapes.push(`<path d="M${at(kFrame.left, height)}h${wide}" stroke="${colour('--grid')}"/>`);
      text(scale === 'y' ? kFrame.left - 6 : kFrame.left + wide + 6, height + 4, words, `text-anchor="${scale === 'y' ? 'end' : 'start'}" class="tick"`);
    });
  }
  for (const tick of ticksOf(x.min, x.max, false)) text(atX(tick), kHeight - 12, drawing.words(tick), 'text-anchor="middle" class="tick"');
  text(kFrame.left, 22, drawing.title, 'class="title"');
  let left = kFrame.left;
  drawing.columns.forEach((data, i) => {
    const { ink: place, scale } = drawing.strokes[i]!;
    const ink = lineColour(place);
    const inside = data.first_step.map((first) => drawing.toX(drawing.runs[i]!, first));
    const line = (values: (number | null)[]) => values.flatMap((value, k) => (value === null || (drawing.log[scale] && value <= 0) ? [] : [at(atX(inside[k]!), atY(value, scale))]));
    const band = [...line(data.max), ...line(data.min).reverse()];
    if (band.length > 0) shapes.push(`<path d="M${band.join('L')}Z" fill="${ink}" fill-opacity="0.2" clip-path="url(#frame)"/>`);
    const course = line(data.mean);
    if (course.length > 0) shapes.push(`<path d="M${course.join('L')}" fill="none" stroke="${ink}" stroke-width="1.5" stroke-dasharray="${dashOf(place).join(' ')}" clip-path="url(#frame)"/>`);
    const label = drawing.labels[i]!.slice(0, 60);
    shapes.push(`<path d="M${left} 40h18" stroke="${ink}" stroke-width="2"/>`);
    text(left + 24, 44, label, 'class="tick"');
    left += 40 + label.length * 7;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${kWidth} ${kHeight}" width="${kWidth}" height="${kHeight}" font-family="system-ui, sans-serif"><style>.title{font-size:15px;font-weight:600;fill:${colour('--ink')}}.tick{font-size:11px;fill:${colour('--faint')}}</style><clipPath id="frame"><rect x="${kFrame.left}" y="${kFrame.top}" width="${wide}" height="${high}"/></clipPath><rect width="100%" height="100%" fill="${colour('--page')}"/>${shapes.join('')}</svg>\n`;
}

/** The chart as it stands, with its title and its lines named above it. */
function pngOf(drawing: Drawing, plot: uPlot): Promise<Blob | null> {
  const from = plot.ctx.canvas;
  const unit = devicePixelRatio;
  const canvas = document.createElement('canvas');
  canvas.width = from.width;
  canvas.height = from.height + 48 * unit;
  const ctx = canvas.getContext('2d')!;
  ctx.fillStyle = colour('--page');
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(from, 0, 48 * unit);
  ctx.scale(unit, unit);
  ctx.fillStyle = colour('--ink');
  ctx.font = '600 14px system-ui, sans-serif';
  ctx.fillText(drawing.title.slice(0, 120), 12, 20);
  ctx.font = '11px system-ui, sans-serif';
  let place = 12;
  drawing.labels.forEach((label, i) => {
    ctx.fillStyle = lineColour(drawing.strokes[i]!.ink);
    ctx.fillRect(place, 34, 16, 3);
    ctx.fillStyle = colour('--faint');
    ctx.fillText(label.slice(0, 60), place + 22, 39);
    place += 40 + ctx.measureText(label.slice(0, 60)).width;
  });
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
}

function give(name: string, blob: Blob) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The choice of forms in which a chart can be taken away. */
export function Save({ drawing, plot }: { drawing: () => Drawing; plot: { current: uPlot | null } }) {
  const save = async (kind: 'png' | 'svg' | 'csv') => {
    if (!plot.current) return;
    const what = drawing();
    const name = `${what.title.replace(/[^\w.]+/g, '-').slice(0, 60) || 'chart'}.${kind}`;
    if (kind === 'csv') return give(name, new Blob([csvOf(what)], { type: 'text/csv' }));
    if (kind === 'svg') return give(name, new Blob([svgOf(what, plot.current)], { type: 'image/svg+xml' }));
    const blob = await pngOf(what, plot.current);
    if (blob) give(name, blob);
  };
  return (
    <span class="save" role="group" aria-label="Save this chart">
      {(['png', 'svg', 'csv'] as const).map((kind) => (
        <button key={kind} onClick={() => void save(kind)} title={`Save as ${kind.toUpperCase()}${kind === 'csv' ? `: ${number(drawing().columns.length)} series as drawn` : ''}`}>{kind}</button>
      ))}
    </span>
  );
}
