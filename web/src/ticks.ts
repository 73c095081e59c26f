// Ticks: the round numbers along an axis.

const kMostDecades = 8;

/** The powers of ten from `low` to `high`: not all of them where they are many, and what lies between where they are few. */
export function decadesIn(low: number, high: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.floor(Math.log10(high))];
  const apart = Math.ceil((last - first + 1) / kMostDecades);
  const decades: number[] = [];
  for (let power = Math.ceil(first / apart) * apart; power <= last; power += apart) decades.push(10 ** power);
  const ticks = last - first < 3 ? decades.flatMap((tick) => [tick, 2 * tick, 5 * tick]) : decades;
  return ticks.filter((tick) => tick >= low && tick <= high);
}

/** A few round numbers from `low` to `high`. */
export function roundIn(low: number, high: number): number[] {
  const rough = (high - low) / 4 || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const apart = [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= rough * 0.75)!;
  const first = Math.ceil(low / apart);
  return Array.from({ length: Math.floor(high / apart) - first + 1 }, (_, i) => (first + i) * apart);
}
