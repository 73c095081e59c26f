// A curve as small as a word: the band between lowest and highest value, gaps where nothing was finite.
import type { Card } from './api';

const kWidth = 120;
const kHeight = 28;

export function Spark({ spark }: { spark: NonNullable<Card['spark']> }) {
  const count = spark.low.length;
  const values = [...spark.low, ...spark.high].filter((v): v is number => v !== null);
  if (values.length === 0) return null;
  let least = Math.min(...values);
  let most = Math.max(...values);
  // A loss that spans decades says more on a logarithmic scale.
  const log = least > 0 && most / least > 30;
  const scale = (v: number) => (log ? Math.log(v) : v);
  least = scale(least);
  most = scale(most);
  const x = (i: number) => (count < 2 ? kWidth / 2 : 1 + (i / (count - 1)) * (kWidth - 2));
  const y = (v: number) => (most === least ? kHeight / 2 : kHeight - 2 - ((scale(v) - least) / (most - least)) * (kHeight - 4));
  const shapes: string[] = [];
  const gaps: number[] = [];
  let run: number[] = [];
  const close = () => {
    if (run.length > 0) {
      const top = run.map((i) => `${x(i).toFixed(1)},${(y(spark.high[i]!) - 0.6).toFixed(1)}`);
      const bottom = run.map((i) => `${x(i).toFixed(1)},${(y(spark.low[i]!) + 0.6).toFixed(1)}`).reverse();
      shapes.push(`M${[...top, ...bottom].join('L')}Z`);
    }
    run = [];
  };
  for (let i = 0; i < count; ++i) {
    if (spark.low[i] === null || spark.high[i] === null) {
      gaps.push(i);
      close();
    } else {
      run.push(i);
    }
  }
  close();
  return (
    <svg class="spark" viewBox={`0 0 ${kWidth} ${kHeight}`} width={kWidth} height={kHeight} role="img" aria-label={`curve of ${spark.series.slice(0, 80)}`}>
      <path d={shapes.join('')} />
      {gaps.length > 0 && <path class="nonfinite" d={gaps.map((i) => `M${x(i).toFixed(1)},1v4`).join('')} />}
    </svg>
  );
}
