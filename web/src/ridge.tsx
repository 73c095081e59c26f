// Ridges: how the distribution of a tensor's values moves, one curve for each recorded step.
import { useState } from 'preact/hooks';
import { type Ridge, type RunDetail, source } from './api';
import { useLoaded } from './loading';
import { number, step } from './words';

const kWidth = 760;
const kLeft = 70;
const kRow = 15;
const kPeak = 46;
const kBins = 120;

/** How much of the mass lies in each of `kBins` equal bins. */
function evened(row: Ridge['rows'][number], low: number, high: number): number[] {
  const bins = new Array<number>(kBins).fill(0);
  const width = (high - low) / kBins;
  row.masses.forEach((mass, i) => {
    const [from, to] = [row.edges[i]!, row.edges[i + 1]!];
    const first = Math.max(0, Math.floor((from - low) / width));
    const last = Math.min(kBins - 1, Math.floor((to - low) / width));
    for (let bin = first; bin <= last; ++bin) {
      const over = Math.min(to, low + (bin + 1) * width) - Math.max(from, low + bin * width);
      bins[bin]! += to > from ? (mass * Math.max(over, 0)) / (to - from) : mass / (last - first + 1);
    }
  });
  return bins;
}

/** The range that holds nearly everything: one far value must not press all the rest into a line. */
function rangeOf(rows: Ridge['rows']): [number, number] {
  const ends = rows.map((row) => {
    const total = row.masses.reduce((a, b) => a + b, 0);
    let seen = 0;
    let first = 0;
    let last = row.masses.length - 1;
    row.masses.forEach((mass, i) => {
      if (seen <= 0.001 * total) first = i;
      if (seen < 0.999 * total) last = i;
      seen += mass;
    });
    return [row.edges[first]!, row.edges[last + 1]!] as const;
  });
  return [Math.min(...ends.map(([low]) => low)), Math.max(...ends.map(([, high]) => high))];
}

function RidgePlot({ ridge }: { ridge: Ridge }) {
  const [low, high] = rangeOf(ridge.rows);
  if (!(high > low)) return <p class="quiet">All its values are {number(low)}.</p>;
  const x = (bin: number) => kLeft + (bin / kBins) * (kWidth - kLeft - 10);
  const height = kPeak + ridge.rows.length * kRow + 22;
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return (
    <svg class="ridges" viewBox={`0 0 ${kWidth} ${height}`} role="img" aria-label={`Distribution of ${ridge.name.slice(0, 120)} over ${ridge.rows.length} steps`}>
      {ticks.map((share) => (
        <g key={share}>
          <line class="grid" x1={x(share * kBins)} x2={x(share * kBins)} y1={8} y2={height - 20} />
          <text x={x(share * kBins)} y={height - 5} text-anchor="middle">{number(low + share * (high - low))}</text>
        </g>
      ))}
      {ridge.rows.map((row, i) => {
        const bins = evened(row, low, high);
        const most = Math.max(...bins) || 1;
        const base = kPeak + i * kRow + kRow;
        const points = bins.map((mass, bin) => `${x(bin + 0.5).toFixed(1)},${(base - (mass / most) * kPeak).toFixed(1)}`);
        const even = i % Math.ceil(ridge.rows.length / 12) === 0 || i === ridge.rows.length - 1;
        return (
          <g key={row.step}>
            <path d={`M${x(0)},${base}L${points.join('L')}L${x(kBins)},${base}Z`} />
            {even && <text x={kLeft - 8} y={base} text-anchor="end">{step(row.step)}</text>}
          </g>
        );
      })}
    </svg>
  );
}

export function Distributions({ run, revision }: { run: RunDetail; revision: unknown }) {
  const [name, setName] = useState(run.histograms[0] ?? '');
  const { value, error } = useLoaded(() => source.distribution(run.id, name), `${run.id} ${name}`, revision);
  return (
    <section aria-labelledby="distributions">
      <h2 id="distributions">Distributions</h2>
      <div class="chart">
        <label class="choice">
          Tensor <select value={name} onChange={(e) => setName(e.currentTarget.value)}>
            {run.histograms.slice(0, 1000).map((one) => <option key={one} value={one}>{one.slice(0, 120)}</option>)}
          </select>
        </label>
        {error && <p class="trouble">{error}</p>}
        {value && <RidgePlot ridge={value} />}
        <p class="quiet small">Steps from top to bottom; each curve reaches its own peak.</p>
      </div>
    </section>
  );
}
