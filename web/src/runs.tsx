// Runs: every run in one list, to sort, filter and search; only the rows in view are drawn.
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Card, Status } from './api';
import { Spark } from './spark';
import { useRuns } from './store';
import { Age, Badge, number, statusName, step } from './words';

type Key = 'status' | 'name' | 'step' | 'age' | 'format' | 'loss';
const kRank: Status[] = ['critical', 'warning', 'unreadable', 'insufficient-data', 'healthy', 'unexamined'];

/** What the list is sorted by, the least first. Sorting keeps the order of equals, and the runs come by their names. */
const places: Record<Key, (card: Card) => number | string> = {
  status: (card) => kRank.indexOf(card.status),
  name: () => 0,
  step: (card) => -(card.steps?.last ?? -1),
  age: (card) => -card.modified,
  format: (card) => card.format,
  loss: (card) => asNumber(card.loss),
};

/** The runs in which every word occurs. */
function found(cards: Card[], words: string): Card[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return cards;
  return cards.filter((card) => {
    const text = `${card.name} ${card.headline} ${card.format}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

function sorted(cards: Card[], key: Key): Card[] {
  const placed = cards.map((card) => ({ card, place: places[key](card) }));
  return placed.sort((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0)).map(({ card }) => card);
}

function asNumber(value: number | string | undefined): number {
  return typeof value === 'number' ? value : Infinity;
}

/** Which rows of a long list lie in view, with some more on both sides. */
function useWindow(count: number, rowHeight: number) {
  const list = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ first: 0, last: 40 });
  useEffect(() => {
    const look = () => {
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowHeight) - 10);
      const last = Math.min(count, Math.ceil((window.innerHeight - top) / rowHeight) + 10);
      setRange((old) => (old.first === first && old.last === last ? old : { first, last }));
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [count, rowHeight]);
  return { list, first: Math.min(range.first, count), last: Math.min(range.last, count) };
}

function useNarrow() {
  const query = useMemo(() => matchMedia('(max-width: 760px)'), []);
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const listener = () => setNarrow(query.matches);
    query.addEventListener('change', listener);
    return () => query.removeEventListener('change', listener);
  }, [query]);
  return narrow;
}

interface RowProps {
  card: Card;
  top: number;
  height: number;
  chosen: boolean;
  onChoose: (id: string) => void;
}

function Row({ card, top, height, chosen, onChoose }: RowProps) {
  return (
    <div class={`row ${chosen ? 'chosen' : ''}`} role="row" style={{ top: `${top}px`, height: `${height}px` }}>
      <span class="cell choose" role="cell"><input type="checkbox" checked={chosen} onChange={() => onChoose(card.id)} aria-label={`Choose ${card.name.slice(0, 200)} to compare`} /></span>
      <span class="cell status" role="cell"><Badge status={card.status} /></span>
      <span class="cell title" role="cell">
        <a class="name" href={`#/run/${card.id}`} title={card.name.slice(0, 500)}><bdi>{card.name.slice(0, 200)}</bdi></a>
        <bdi class="headline" title={card.headline}>{card.headline}</bdi>
      </span>
      <span class="cell curve" role="cell">{card.spark && <Spark spark={card.spark} />}</span>
      <span class="cell figure loss" role="cell">{number(card.loss === 'nan' && !card.spark ? null : card.loss)}</span>
      <span class="cell figure" role="cell">{card.steps ? step(card.steps.last) : ''}</span>
      <span class="cell figure" role="cell"><Age seconds={card.modified} /></span>
      <span class="cell format" role="cell">{card.format}</span>
    </div>
  );
}

export function RunsPage() {
  const { cards, loaded, connected } = useRuns();
  const [words, setWords] = useState('');
  const [only, setOnly] = useState<Status | ''>('');
  const [key, setKey] = useState<Key>('status');
  const [reversed, setReversed] = useState(false);
  const [chosen, setChosen] = useState<string[]>([]);
  const choose = useCallback((id: string) => setChosen((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old, id])), []);
  const narrow = useNarrow();
  const rowHeight = narrow ? 92 : 58;

  const all = useMemo(() => [...cards.values()], [cards]);
  const counts = useMemo(() => {
    const result = new Map<Status, number>();
    for (const card of all) result.set(card.status, (result.get(card.status) ?? 0) + 1);
    return result;
  }, [all]);
  const shown = useMemo(() => {
    const fitting = sorted(found(only ? all.filter((card) => card.status === only) : all, words), key);
    return reversed ? fitting.reverse() : fitting;
  }, [all, words, only, key, reversed]);
  const { list, first, last } = useWindow(shown.length, rowHeight);

  const head = (name: Key, title: string, kind = '') => (
    <span class={`cell ${kind}`} role="columnheader" aria-sort={key === name ? (reversed ? 'descending' : 'ascending') : 'none'}>
      <button onClick={() => (key === name ? setReversed(!reversed) : (setKey(name), setReversed(false)))}>
        {title}
        <span class="order" aria-hidden="true">{key === name ? (reversed ? '↑' : '↓') : ''}</span>
      </button>
    </span>
  );

  return (
    <main class="runs">
      <div class="tools">
        <h1>Runs</h1>
        <input type="search" placeholder="Search name, headline, format" aria-label="Search" value={words} onInput={(e) => setWords(e.currentTarget.value)} />
        <div class="filters" role="group" aria-label="Show only">
          <button aria-pressed={only === ''} onClick={() => setOnly('')}>All {all.length}</button>
          {kRank.filter((status) => counts.has(status)).map((status) => (
            <button key={status} aria-pressed={only === status} onClick={() => setOnly(only === status ? '' : status)}>
              <Badge status={status} shape /> {statusName(status)} {counts.get(status)}
            </button>
          ))}
        </div>
        {chosen.length > 0 && (
          <div class="chosen-runs">
            {chosen.length > 1 ? <a class="button" href={`#/compare/${chosen.join(',')}`}>Compare {chosen.length} runs</a> : <span class="quiet">Choose another run to compare</span>}
            <button onClick={() => setChosen([])}>Clear</button>
          </div>
        )}
      </div>
      <div class="table" role="table" aria-label="Runs" aria-rowcount={shown.length}>
        <div class="row head" role="row">
          <span class="cell choose" role="columnheader" aria-label="Chosen to compare" />
          {head('status', 'Status', 'status')}
          {head('name', 'Run', 'title')}
          <span class="cell curve" role="columnheader">Loss curve</span>
          {head('loss', 'Loss', 'figure loss')}
          {head('step', 'Last step', 'figure')}
          {head('age', 'Age', 'figure')}
          {head('format', 'Format', 'format')}
        </div>
        <div class="rows" ref={list} style={{ height: `${shown.length * rowHeight}px` }}>
          {shown.slice(first, last).map((card, i) => (
            <Row key={card.id} card={card} top={(first + i) * rowHeight} height={rowHeight} chosen={chosen.includes(card.id)} onChoose={choose} />
          ))}
        </div>
      </div>
      {loaded && all.length === 0 && <p class="quiet">No run was found below the served folders yet. New ones appear here by themselves.</p>}
      {all.length > 0 && shown.length === 0 && <p class="quiet">No run fits this search.</p>}
      {!loaded && <p class="quiet">{connected ? 'Looking for runs …' : 'Waiting for the server …'}</p>}
    </main>
  );
}
