// Experiments: what active tests found, as a verdict with its curve, its map, its figures and its list of checks.
import { useEffect, useRef } from 'preact/hooks';
import type { Experiment, Measure, Outcome } from './api';
import { kLineColours, ramp } from './palette';
import { dashOf, strokeOf, Swatch } from './swatch';
import { decadesIn, roundIn } from './ticks';
import { number, step, tickWords } from './words';

const kNames: Record<Outcome, string> = { passed: 'Passed', failed: 'Failed', undecided: 'Undecided', stopped: 'Stopped' };
const kSigns: Record<Outcome, string> = { passed: '✓', failed: '✗', undecided: '?', stopped: '–' };
const kWidth = 720;
const kHeight = 230;
const kLeft = 62;
const kBottom = 34;
const kRight = 26;

const title = (id: string) => id.replaceAll('-', ' ').replace(/^./, (c) => c.toUpperCase()).replace(/\bLr\b/i, 'LR');
const finite = (value: Measure | undefined): value is number => typeof value === 'number' && Number.isFinite(value);

function Verdict({ outcome }: { outcome: Outcome }) {
  return <span class={`outcome ${outcome}`}><i aria-hidden="true">{kSigns[outcome]}</i> {kNames[outcome]}</span>;
}

/** A scale from values to places; logarithmic where they are positive and span decades. */
function scaleOf(values: number[], from: number, to: number) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const log = low > 0 && high / low >= 30;
  const fit = (v: number) => (log ? Math.log10(v) : v);
  const span = fit(high) - fit(low) || 1;
  const place = (v: number) => from + ((fit(v) - fit(low)) / span) * (to - from);
  return { place, ticks: log ? decadesIn(low, high) : roundIn(low, high), log };
}

/** The first column across, the others up. */
function Curves({ experiment }: { experiment: Experiment }) {
  const [across, ...others] = experiment.columns;
  const up = others.slice(0, kLineColours);
  const rows = across!.values.map((_, i) => i).filter((i) => finite(across!.values[i]));
  const xs = rows.map((i) => across!.values[i] as number);
  const ys = up.flatMap((column) => column.values.filter(finite));
  if (xs.length < 2 || ys.length === 0) return null;
  const x = scaleOf(xs, kLeft, kWidth - kRight);
  const y = scaleOf(ys, kHeight - kBottom, 10);
  const path = (values: Measure[]) => {
    let pen = 'M';
    let d = '';
    for (const i of rows) {
      const value = values[i];
      if (!finite(value)) {
        pen = 'M';
        continue;
      }
      d += `${pen}${x.place(across!.values[i] as number).toFixed(1)},${y.place(value).toFixed(1)}`;
      pen = 'L';
    }
    return d;
  };
  // A value whose name speaks of the column across is a place on it: the learning rate that is suggested.
  const places = experiment.values.filter((value) => finite(value.value) && value.name.endsWith(across!.name) && value.value >= Math.min(...xs) && value.value <= Math.max(...xs));
  return (
    <>
      <ul class="legend">{up.map((column, i) => <li key={column.name}><Swatch ink={i} /><bdi>{title(column.name)}</bdi></li>)}</ul>
      <svg class="lab" viewBox={`0 0 ${kWidth} ${kHeight}`} role="img" aria-label={`${up.map((column) => title(column.name)).join(', ')} by ${title(across!.name)}`}>
        {y.ticks.map((tick, i) => <g key={tick}><line class="grid" x1={kLeft} x2={kWidth - kRight} y1={y.place(tick)} y2={y.place(tick)} /><text x={kLeft - 6} y={y.place(tick) + 4} text-anchor="end">{tickWords(y.ticks)[i]}</text></g>)}
        {x.ticks.map((tick, i) => <text key={tick} x={x.place(tick)} y={kHeight - 18} text-anchor="middle">{tickWords(x.ticks)[i]}</text>)}
        <text x={(kLeft + kWidth) / 2} y={kHeight - 3} text-anchor="middle">{title(across!.name)}{x.log ? ' (log)' : ''}</text>
        {up.map((column, i) => <path key={column.name} class={`curve ${strokeOf(i)}`} stroke-dasharray={dashOf(i).join(' ')} d={path(column.values)} />)}
        {places.map((place) => (
          <g key={place.name} class="place">
            <line x1={x.place(place.value as number)} x2={x.place(place.value as number)} y1={10} y2={kHeight - kBottom} />
            <text x={x.place(place.value as number) + 4} y={20}>{title(place.name)} {number(place.value)}</text>
          </g>
        ))}
      </svg>
    </>
  );
}

/** The sorted distinct values of two columns when together they name every cell of a grid. */
function gridOf(experiment: Experiment) {
  const [a, b, c] = experiment.columns;
  if (experiment.columns.length !== 3 || !a!.values.every(finite) || !b!.values.every(finite)) return null;
  const across = [...new Set(a!.values as number[])].sort((p, q) => p - q);
  const down = [...new Set(b!.values as number[])].sort((p, q) => p - q);
  if (across.length < 3 || down.length < 3 || across.length * down.length !== c!.values.length) return null;
  return { across, down };
}

/** A surface seen from above, with lines of equal height. */
function Surface({ experiment, across, down }: { experiment: Experiment; across: number[]; down: number[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [a, b, c] = experiment.columns;
  const cells = new Map(c!.values.map((value, i) => [`${a!.values[i]} ${b!.values[i]}`, value]));
  const at = (col: number, row: number) => cells.get(`${across[col]} ${down[row]}`);
  const known = c!.values.filter(finite);
  const log = Math.min(...known) > 0;
  const fit = (v: number) => (log ? Math.log(v) : v);
  const low = fit(Math.min(...known));
  const span = fit(Math.max(...known)) - low || 1;
  useEffect(() => {
    const size = 360;
    const element = canvas.current!;
    element.width = element.height = size;
    const picture = element.getContext('2d')!.createImageData(size, size);
    const share = (col: number, row: number) => {
      const value = at(col, row);
      return finite(value) ? (fit(value) - low) / span : 1;
    };
    for (let y = 0; y < size; ++y) {
      const v = (1 - (y + 0.5) / size) * (down.length - 1);
      const r = Math.min(Math.floor(v), down.length - 2);
      for (let x = 0; x < size; ++x) {
        const u = ((x + 0.5) / size) * (across.length - 1);
        const k = Math.min(Math.floor(u), across.length - 2);
        const top = share(k, r) + (share(k + 1, r) - share(k, r)) * (u - k);
        const bottom = share(k, r + 1) + (share(k + 1, r + 1) - share(k, r + 1)) * (u - k);
        const height = top + (bottom - top) * (v - r);
        const [red, green, blue] = ramp(height);
        const edge = Math.abs(height * 12 - Math.round(height * 12)) < 0.05 ? 0.72 : 1;
        picture.data.set([red * edge, green * edge, blue * edge, 255], 4 * (y * size + x));
      }
    }
    element.getContext('2d')!.putImageData(picture, 0, 0);
  }, [experiment]);
  return (
    <figure class="surface">
      <canvas ref={canvas} role="img" aria-label={`${title(c!.name)} over ${a!.name} and ${b!.name}`} />
      <figcaption class="quiet small">{title(c!.name)} from {number(Math.min(...known))} (dark) to {number(Math.max(...known))} (bright); {a!.name} across, {b!.name} up.</figcaption>
    </figure>
  );
}

export function ExperimentCard({ experiment }: { experiment: Experiment }) {
  const grid = gridOf(experiment);
  return (
    <article class="chart experiment">
      <header><h3>{title(experiment.probe)}</h3><Verdict outcome={experiment.outcome} /><span class="quiet small">step {step(experiment.step)}</span></header>
      <p><bdi>{experiment.verdict}</bdi></p>
      {grid ? <Surface experiment={experiment} {...grid} /> : experiment.columns.length > 1 && <Curves experiment={experiment} />}
      {experiment.values.length > 0 && (
        <dl class="figures">
          {experiment.values.map((value) => (
            <div key={value.name}>
              <dt>{title(value.name)}</dt>
              <dd>{number(value.value)}{finite(value.low) && finite(value.high) && <span class="quiet"> ({number(value.low)} to {number(value.high)})</span>}</dd>
            </div>
          ))}
        </dl>
      )}
      {experiment.checks.length > 0 && (
        <table class="checks">
          <tbody>{experiment.checks.map((check) => <tr key={check.id}><td><Verdict outcome={check.outcome} /></td><th scope="row">{title(check.id)}</th><td><bdi>{check.text}</bdi></td></tr>)}</tbody>
        </table>
      )}
    </article>
  );
}

export function Experiments({ experiments }: { experiments: Experiment[] }) {
  if (experiments.length === 0) return null;
  return (
    <section aria-labelledby="experiments">
      <h2 id="experiments">Experiments</h2>
      {experiments.map((experiment) => <ExperimentCard key={experiment.probe} experiment={experiment} />)}
    </section>
  );
}
