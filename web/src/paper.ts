// What changes when a page goes to paper: its colours, the width of its charts, and that nothing stays folded.
import { useLayoutEffect, useState } from 'preact/hooks';

export const kPaperWidth = 660;

const printing = new EventTarget();
let onPaper = false;
let unfolded: HTMLDetailsElement[] = [];

/** Paper is white whatever the screen is, and nobody can click on it. */
function turn(toPaper: boolean) {
  onPaper = toPaper;
  document.documentElement.toggleAttribute('data-paper', toPaper);
  if (toPaper) unfolded = [...document.querySelectorAll<HTMLDetailsElement>('.diagnosis details:not([open])')];
  for (const details of unfolded) details.open = toPaper;
  printing.dispatchEvent(new Event('change'));
}
addEventListener('beforeprint', () => turn(true));
addEventListener('afterprint', () => turn(false));

/** Calls `draw` whenever the page goes to paper and when it comes back, at once: the printer does not wait. */
export function onPrint(draw: (paper: boolean) => void): () => void {
  const listener = () => draw(onPaper);
  printing.addEventListener('change', listener);
  return () => printing.removeEventListener('change', listener);
}

/** The width that an element has now. */
export function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  // Known before the first paint: what is to be drawn can be asked for at once.
  useLayoutEffect(() => {
    setWidth(box.current!.clientWidth);
    const observer = new ResizeObserver(([entry]) => {
      if (!onPaper) setWidth(Math.floor(entry!.contentRect.width));
    });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  return width;
}
