// The list of runs, kept up to date by the server's events and shared by all pages.
import { useEffect, useState } from 'preact/hooks';
import { type Card, type Job, source } from './api';

export interface Runs {
  cards: Map<string, Card>;
  loaded: boolean;
  connected: boolean;
  /** Trainings and treatments of the playground, the newest first. */
  jobs: Job[];
}

let state: Runs = { cards: new Map(), loaded: false, connected: false, jobs: [] };
const listeners = new Set<() => void>();
let waiting: Card[] = [];
let scheduled = false;
let lists = 0;
/** What changed while a list is on its way: the list may have been written before. */
let meanwhile: Map<string, Card> | null = null;

function set(change: Partial<Runs>) {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

async function load() {
  const turn = ++lists;
  meanwhile = new Map();
  const runs = await source.runs();
  if (turn !== lists) return; // a later list was asked for
  const cards = new Map(runs.map((card) => [card.id, card]));
  for (const [id, card] of meanwhile) cards.set(id, card);
  meanwhile = null;
  set({ cards, loaded: true });
}

/** Many events may come at once: they are drawn together with the next frame. */
function receive(card: Card) {
  meanwhile?.set(card.id, card);
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
  events.addEventListener('jobs', (event) => set({ jobs: (JSON.parse(event.data) as { jobs: Job[] }).jobs }));
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
