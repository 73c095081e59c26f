// A curve as small as a word: the band between lowest and highest value, gaps where nothing was finite.
import type { Card } from './api';

const kWidth = 120;
const kHeight = 28;

// What the letters of a spark line stand for, from its lowest value to its highest; any other is a gap.
const kLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function Spark({ spark }: { spark: NonNullable<Card['spark']> }) {
  const count = spark.low.length;
  const [low, high] = [spark.low, spark.high].map((letters) => Array.from(letters, (letter) => kLetters.indexOf(letter))) as [number[], number[]];
  if (low.every((level) => level < 0)) return null;
  const x = (i: number) => (count < 2 ? kWidth / 2 : 1 + (i / (count - 1)) * (kWidth - 2));
  const y = (level: number) => kHeight - 2 - (level / (kLetters.length - 1)) * (kHeight - 4);
  const shapes: string[] = [];
  const gaps: number[] = [];
  let run: number[] = [];
  const close = () => {
    if (run.length > 0) {
      const top = run.map((i) => `${x(i).toFixed(1)},${(y(high[i]!) - 0.6).toFixed(1)}`);
      const bottom = run.map((i) => `${x(i).toFixed(1)},${(y(low[i]!) + 0.6).toFixed(1)}`).reverse();
      shapes.push(`M${[...top, ...bottom].join('L')}Z`);
    }
    run = [];
  };
  for (let i = 0; i < count; ++i) {
    if (low[i]! < 0) {
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
