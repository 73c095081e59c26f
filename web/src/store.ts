// The list of runs, kept up to date by the server's events and shared by all pages.
import { useEffect, useState } from 'preact/hooks';
import { type Card, type Job, type RunList, source } from './api';

export interface Runs {
  /** In the order of their names. */
  cards: Map<string, Card>;
  /** The list is here, and the server has looked everywhere. */
  loaded: boolean;
  connected: boolean;
  /** Trainings and treatments of the playground, the newest first. */
  jobs: Job[];
  leftOut: NonNullable<RunList['left_out']>;
}

/** How often changes are drawn at most: while thousands of runs are examined hundreds may come each second. */
const kDrawEvery = 120;
const kConnectAgain = 3000;

// Made once: a comparison that has to make its own takes far longer, and thousands of runs take many.
const names = new Intl.Collator('en', { numeric: true });

let state: Runs = { cards: new Map(), loaded: false, connected: false, jobs: [], leftOut: { count: 0, files: [] } };
const listeners = new Set<() => void>();
let waiting: Card[] = [];
let lists = 0;
/** What changed while a list is on its way: the list may have been written before. */
let meanwhile: Map<string, Card> | null = null;

function set(change: Partial<Runs>) {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

const inOrder = (cards: Iterable<Card>) => new Map([...cards].sort((a, b) => names.compare(a.name, b.name)).map((card) => [card.id, card]));

async function load() {
  const turn = ++lists;
  meanwhile = new Map();
  const { runs, searched, left_out: leftOut = { count: 0, files: [] } } = await source.runs();
  if (turn !== lists) return; // a later list was asked for
  // A server that was just started does not know all of its runs yet: what was shown stays until it does.
  const cards = new Map(searched ? [] : state.cards);
  for (const card of runs) cards.set(card.id, card);
  for (const [id, card] of meanwhile) cards.set(id, card);
  meanwhile = null;
  waiting = [];
  set({ cards: inOrder(cards.values()), loaded: searched, leftOut });
}

function draw() {
  if (waiting.length === 0) return;
  const cards = new Map(state.cards);
  for (const card of waiting) cards.set(card.id, card);
  waiting = [];
  set({ cards: cards.size === state.cards.size ? cards : inOrder(cards.values()) });
}

function receive(card: Card) {
  meanwhile?.set(card.id, card);
  if (waiting.push(card) === 1) setTimeout(draw, kDrawEvery);
}

function connect() {
  const events = new EventSource('/api/events');
  let given = false;
  const giveUp = () => {
    if (given) return;
    given = true;
    events.close();
    set({ connected: false });
    setTimeout(connect, kConnectAgain);
  };
  const reload = () => void load().catch(giveUp);
  events.addEventListener('open', () => {
    set({ connected: true });
    reload();
  });
  events.addEventListener('run', (event) => receive(JSON.parse(event.data) as Card));
  events.addEventListener('jobs', (event) => set({ jobs: (JSON.parse(event.data) as { jobs: Job[] }).jobs }));
  events.addEventListener('list', reload);
  // A lost connection is made again by the browser itself, a refused one is not.
  events.addEventListener('error', () => (events.readyState === EventSource.CLOSED ? giveUp() : set({ connected: false })));
}

/** Begins to follow the server; called once. Where nothing is live the list is read and that is all. */
export function follow() {
  if (source.live) connect();
  else void load();
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
