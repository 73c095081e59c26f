// The list of runs, kept up to date by the server's events and shared by all pages.
import { useEffect, useState } from 'preact/hooks';
import { type Card, source } from './api';

export interface Runs {
  cards: Map<string, Card>;
  loaded: boolean;
  connected: boolean;
}

let state: Runs = { cards: new Map(), loaded: false, connected: false };
const listeners = new Set<() => void>();
let waiting: Card[] = [];
let scheduled = false;

function set(change: Partial<Runs>) {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

async function load() {
  const runs = await source.runs();
  set({ cards: new Map(runs.map((card) => [card.id, card])), loaded: true });
}

/** Many events may come at once: they are drawn together with the next frame. */
function receive(card: Card) {
  waiting.push(card);
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    const cards = new Map(state.cards);
    for (const changed of waiting) cards.set(changed.id, changed);
    waiting = [];
    set({ cards });
  });
}

/** Begins to follow the server; called once. Where nothing is live the list is read and that is all. */
export function follow() {
  if (!source.live) return void load();
  const events = new EventSource('/api/events');
  events.addEventListener('open', () => {
    set({ connected: true });
    load().catch(() => set({ connected: false }));
  });
  events.addEventListener('run', (event) => receive(JSON.parse(event.data) as Card));
  events.addEventListener('gone', () => load().catch(() => set({ connected: false })));
  events.addEventListener('error', () => set({ connected: false }));
}

export function useRuns(): Runs {
  const [seen, setSeen] = useState(state);
  useEffect(() => {
    const listener = () => setSeen(state);
    listeners.add(listener);
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return seen;
}
