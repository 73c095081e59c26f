// Columns: configuration and figures of the runs beside what the list shows of each, chosen by the reader.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { source, type TableRow } from './api';
import { kept } from './route';
import { number } from './words';

export type Table = Map<string, TableRow>;
type Value = number | string | undefined;

const kChosen = 'osler.columns';
const kMostListed = 200;

/** What the browser keeps for this page; nothing where it keeps nothing. */
export function remembered<T>(name: string, none: T): T {
  try {
    return (JSON.parse(localStorage.getItem(name) ?? 'null') as T | null) ?? none;
  } catch {
    return none;
  }
}

export function remember(name: string, value: unknown) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing shows the page all the same.
  }
}

const isNumber = (text: string) => text.trim() !== '' && Number.isFinite(Number(text));

/** The value of a column for a run: its figure, else its setting, as a number where it is one. */
export function valueOf(row: TableRow | undefined, column: string): Value {
  const value = row?.metrics[column] ?? row?.configuration[column];
  return typeof value === 'string' && isNumber(value) ? Number(value) : value;
}

export const shownValue = (value: Value) => (typeof value === 'number' ? number(value) : (value ?? ''));

/** A word of a search that asks for a value: lr=0.1, batch_size>=64, final-train-loss<0.5. */
export function conditionOf(word: string): ((row: TableRow | undefined) => boolean) | null {
  const parts = /^([^<>=!]+)(<=|>=|!=|=|<|>)(.+)$/.exec(word);
  if (!parts) return null;
  const [, column, sign, text] = parts as unknown as [string, string, string, string];
  const wanted = isNumber(text) ? Number(text) : text.toLowerCase();
  return (row) => {
    const value = valueOf(row, column);
    if (value === undefined) return false;
    const own = typeof wanted === 'number' ? value : String(value).toLowerCase();
    if (sign === '=') return own === wanted;
    if (sign === '!=') return own !== wanted;
    if (typeof own !== typeof wanted) return false;
    return sign === '<' ? own < wanted : sign === '>' ? own > wanted : sign === '<=' ? own <= wanted : own >= wanted;
  };
}

/** Whether a search needs the values of the runs. */
export const asksForValues = (words: string) => words.split(/\s+/).some((word) => conditionOf(word));

/** The columns that a link names or that were chosen last, and the values of all runs once they are needed. */
export function useColumnsOf(revision: unknown, needed: boolean) {
  const [columns, setColumns] = useState<string[]>(() => (kept().has('column') ? kept().getAll('column') : remembered(kChosen, [])));
  const [open, setOpen] = useState(false);
  const [table, setTable] = useState<Table>(new Map());
  const wanted = source.live && (open || needed || columns.length > 0);
  useEffect(() => {
    if (!wanted) return;
    // While thousands of runs are examined it would be asked for all the time.
    const timer = setTimeout(() => void source.table().then(setTable, () => {}), table.size === 0 ? 0 : 1000);
    return () => clearTimeout(timer);
  }, [wanted, revision]);
  const choose = (next: string[]) => {
    setColumns(next);
    remember(kChosen, next);
  };
  return { columns, choose, table, setOpen };
}

/** In how many runs a name occurs, the most frequent first. */
function counted(rows: Iterable<Record<string, unknown>>): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of rows) for (const name of Object.keys(row)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

interface ChooserProps {
  columns: string[];
  table: Table;
  onChoose: (columns: string[]) => void;
  onOpen: (open: boolean) => void;
}

export function ColumnChooser({ columns, table, onChoose, onOpen }: ChooserProps) {
  const [words, setWords] = useState('');
  const groups = useMemo(() => {
    const rows = [...table.values()];
    return [['Configuration', counted(rows.map((row) => row.configuration))], ['Figures', counted(rows.map((row) => row.metrics))]] as const;
  }, [table]);
  const toggle = (name: string) => onChoose(columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name]);
  return (
    <details class="columns" onToggle={(event) => onOpen(event.currentTarget.open)}>
      <summary>Columns <span class="count">{columns.length || ''}</span></summary>
      <div class="sheet">
        <input type="search" placeholder="Search columns" aria-label="Search columns" value={words} onInput={(e) => setWords(e.currentTarget.value)} />
        {columns.length > 0 && <button onClick={() => onChoose([])}>None of them</button>}
        {groups.map(([title, names]) => {
          const fitting = names.filter(([name]) => name.toLowerCase().includes(words.toLowerCase())).slice(0, kMostListed);
          return (
            <fieldset key={title}>
              <legend>{title}</legend>
              {fitting.length === 0 && <span class="quiet small">none</span>}
              {fitting.map(([name, count]) => (
                <label key={name}><input type="checkbox" checked={columns.includes(name)} onChange={() => toggle(name)} /> <bdi>{name.slice(0, 60)}</bdi> <span class="count">{count}</span></label>
              ))}
            </fieldset>
          );
        })}
        <p class="quiet small">The search above takes conditions on them too: <code>lr=0.1</code>, <code>batch_size&gt;=64</code>, <code>final-train-loss&lt;0.5</code>.</p>
      </div>
    </details>
  );
}
