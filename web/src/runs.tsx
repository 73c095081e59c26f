// Runs: every run in one list, to sort, filter and search; only the rows in view are drawn.
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Card, source, type Status, type TableRow } from './api';
import { asksForValues, ColumnChooser, shownValue, type Table, useColumnsOf, valueOf } from './columns';
import { groupedBy, GroupRow, GroupSheet } from './group_row';
import { type Group, groupsOf } from './grouping';
import { allOwn, type Own, Tags } from './own';
import { kept, useKept } from './route';
import { found } from './search';
import { hiddenRuns, hideRuns, kShelves, type Shelf, Shelves, shelvesOf } from './shelves';
import { Spark } from './spark';
import { useRuns } from './store';
import { Age, Badge, number, statusName, step } from './words';

type Key = 'status' | 'name' | 'step' | 'age' | 'format' | 'loss';
const kRank: Status[] = ['critical', 'warning', 'unreadable', 'insufficient-data', 'healthy', 'unexamined'];

/** What the list is sorted by, the least first. Sorting keeps the order of equals, and the runs come by their names. */
const places: Record<Key, (card: Card) => number | string | undefined> = {
  status: (card) => kRank.indexOf(card.status),
  name: () => 0,
  step: (card) => -(card.steps?.last ?? -1),
  age: (card) => -card.modified,
  format: (card) => card.format,
  loss: (card) => (typeof card.loss === 'number' ? card.loss : undefined),
};

/** Numbers before words. */
function before(a: number | string, b: number | string): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** By a column of the list or any other; what has no value comes last either way. */
function sorted(cards: Card[], key: string, reversed: boolean, table: Table): Card[] {
  const placed = cards.map((card) => ({ card, place: key in places ? places[key as Key](card) : valueOf(table.get(card.id), key) }));
  const known = placed.filter(({ place }) => place !== undefined).sort((a, b) => before(a.place!, b.place!));
  if (reversed) known.reverse();
  return [...known, ...placed.filter(({ place }) => place === undefined)].map(({ card }) => card);
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
  columns: string[];
  /** There is no room for columns: they stand before the headline. */
  narrow: boolean;
  values: TableRow | undefined;
  own: Own | undefined;
  layout: string | undefined;
  onChoose: (id: string) => void;
}

function Row({ card, top, height, chosen, columns, narrow, values, own, layout, onChoose }: RowProps) {
  return (
    <div class={`row ${chosen ? 'chosen' : ''}`} role="row" style={{ top: `${top}px`, height: `${height}px`, gridTemplateColumns: layout }}>
      <span class="cell choose" role="cell"><input type="checkbox" checked={chosen} onChange={() => onChoose(card.id)} aria-label={`Choose ${card.name.slice(0, 200)} to compare`} /></span>
      <span class="cell status" role="cell"><Badge status={card.status} /></span>
      <span class="cell title" role="cell">
        <a class="name" href={`#/run/${card.id}`} title={card.name.slice(0, 500)}><bdi>{card.name.slice(0, 200)}</bdi> <Tags own={own} /></a>
        <bdi class="headline" title={card.headline}>{narrow && columns.filter((column) => valueOf(values, column) !== undefined).map((column) => `${column} ${shownValue(valueOf(values, column))} · `)}{card.headline}</bdi>
      </span>
      <span class="cell curve" role="cell">{card.spark && <Spark spark={card.spark} />}</span>
      <span class="cell figure loss" role="cell">{number(card.loss)}</span>
      <span class="cell figure" role="cell">{card.steps ? step(card.steps.last) : ''}</span>
      <span class="cell figure" role="cell"><Age seconds={card.modified} /></span>
      <span class="cell format" role="cell">{card.format}</span>
      {!narrow && columns.map((column) => <bdi key={column} class="cell extra" role="cell" title={`${column}: ${valueOf(values, column) ?? 'not known'}`}>{shownValue(valueOf(values, column))}</bdi>)}
    </div>
  );
}

export function RunsPage() {
  const { cards, loaded, connected, leftOut } = useRuns();
  const [words, setWords] = useState(() => kept().get('search') ?? '');
  useKept({ search: words || null });
  const [only, setOnly] = useState<Status | ''>(() => kRank.find((status) => status === kept().get('only')) ?? '');
  const [key, setKey] = useState<string>(() => kept().get('sort') ?? 'status');
  const [hidden, setHiddenAlone] = useState(hiddenRuns);
  const [shelf, setShelf] = useState<Shelf>(() => kShelves.find((one) => one === kept().get('show')) ?? '');
  const setHidden = (next: Iterable<string>) => {
    setHiddenAlone(new Set(next));
    hideRuns(next);
  };
  const [by, setBy] = useState(() => kept().get('group') ?? '');
  useKept({ group: by || null });
  const { columns, choose: chooseColumns, table, setOpen } = useColumnsOf(cards, by !== '' || asksForValues(words));
  const [reversed, setReversed] = useState(() => kept().has('reversed'));
  useKept({ only: only || null, show: shelf || null, sort: key === 'status' ? null : key, reversed: reversed ? '1' : null, column: columns });
  const [chosen, setChosen] = useState<string[]>([]);
  const choose = useCallback((id: string) => setChosen((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old, id])), []);
  const own = useMemo(allOwn, []);
  const narrow = useNarrow();
  const rowHeight = narrow ? 92 : 58;

  const shelves = useMemo(() => shelvesOf(cards.values(), hidden), [cards, hidden]);
  const all = shelves[shelf];
  const layout = columns.length === 0 || narrow ? undefined : `1.1rem 8.4rem minmax(11rem, 1fr) 132px 6rem 6.5rem 5rem 8.5rem repeat(${columns.length}, minmax(4rem, 7rem))`;
  const counts = useMemo(() => {
    const result = new Map<Status, number>();
    for (const card of all) result.set(card.status, (result.get(card.status) ?? 0) + 1);
    return result;
  }, [all]);
  const shown = useMemo(
    () => sorted(found(only ? all.filter((card) => card.status === only) : all, words, table, own), key, reversed, table),
    [all, words, only, key, reversed, table, own],
  );
  // A group stands as a row of its own above its members; one run is no group.
  const rows = useMemo(
    (): (Card | Group<Card>)[] => (by === '' || table.size === 0 ? shown : groupsOf(shown, groupedBy(table), by).flatMap((group) => (group.members.length > 1 ? [group, ...group.members] : group.members))),
    [shown, by, table],
  );
  const { list, first, last } = useWindow(rows.length, rowHeight);
  const chooseGroup = (group: Group<Card>, all: boolean) => {
    const ids = group.members.map((card) => card.id);
    setChosen(all ? chosen.filter((id) => !ids.includes(id)) : [...new Set([...chosen, ...ids])]);
  };

  const head = (name: string, title: string, kind = '') => (
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
        <input type="search" placeholder="Search, or lr=0.1" aria-label="Search" value={words} onInput={(e) => setWords(e.currentTarget.value)} />
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
            {shelf === 'hidden' ? (
              <button onClick={() => (setHidden([...hidden].filter((id) => !chosen.includes(id))), setChosen([]))}>Show again</button>
            ) : (
              <button onClick={() => (setHidden([...hidden, ...chosen]), setChosen([]))} title="Hide them in this browser">Hide</button>
            )}
            <button onClick={() => setChosen([])}>Clear</button>
          </div>
        )}
        {source.live && <GroupSheet by={by} table={table} onChoose={setBy} onOpen={setOpen} />}
        <ColumnChooser columns={columns} table={table} onChoose={chooseColumns} onOpen={setOpen} />
        <Shelves shelves={shelves} shelf={shelf} onChoose={setShelf} />
      </div>
      <div class="table" role="table" aria-label="Runs" aria-rowcount={rows.length}>
        <div class="row head" role="row" style={{ gridTemplateColumns: layout }}>
          <span class="cell choose" role="columnheader" aria-label="Chosen to compare" />
          {head('status', 'Status', 'status')}
          {head('name', 'Run', 'title')}
          <span class="cell curve" role="columnheader">Loss curve</span>
          {head('loss', 'Loss', 'figure loss')}
          {head('step', 'Last step', 'figure')}
          {head('age', 'Age', 'figure')}
          {head('format', 'Format', 'format')}
          {columns.map((column) => head(column, column, 'extra'))}
        </div>
        <div class="rows" ref={list} style={{ height: `${rows.length * rowHeight}px` }}>
          {rows.slice(first, last).map((row, i) => {
            const top = (first + i) * rowHeight;
            if ('members' in row) {
              const all = row.members.every((card) => chosen.includes(card.id));
              return <GroupRow key={`group ${row.label}`} group={row} top={top} height={rowHeight} layout={layout} ranks={kRank} by={by} chosen={all} onChoose={() => chooseGroup(row, all)} />;
            }
            return <Row key={row.id} card={row} top={top} height={rowHeight} chosen={chosen.includes(row.id)} columns={columns} narrow={narrow} values={table.get(row.id)} own={own[row.id]} layout={layout} onChoose={choose} />;
          })}
        </div>
      </div>
      {leftOut.count > 0 && (
        <details class="left-out">
          <summary>Left out <span class="count">{leftOut.count}</span></summary>
          <p class="quiet small">These lie in the folders and are not shown as runs.</p>
          <ul class="links">{leftOut.files.map((file) => <li key={file.path}><bdi>{file.path.slice(0, 300)}</bdi>: <span class="quiet">{file.why}</span></li>)}</ul>
          {leftOut.count > leftOut.files.length && <p class="quiet small">and {step(leftOut.count - leftOut.files.length)} more</p>}
        </details>
      )}
      {loaded && all.length === 0 && shelf && <p class="quiet">Nothing is {shelf}.</p>}
      {loaded && cards.size === 0 && <p class="quiet">No run was found below the served folders yet. New ones appear here by themselves.</p>}
      {all.length > 0 && shown.length === 0 && <p class="quiet">No run fits this search.</p>}
      {!loaded && <p class="quiet">{connected ? 'Looking for runs …' : 'Waiting for the server …'}</p>}
    </main>
  );
}
