// What a reader does with the charts of a page: ask for more of them, choose the lines of one, draw others over it, pin it.
import { useMemo, useState } from 'preact/hooks';
import type { Arrangement } from './arrangement';
import { step } from './words';

const kMostListed = 300;

const fits = (name: string, words: string) => name.toLowerCase().includes(words.toLowerCase());

interface PickerProps {
  names: string[];
  /** How many there are, where not all of them are listed. */
  inAll: number;
  shown: Set<string>;
  onAdd: (name: string) => void;
}

/** Series that no chart shows yet. */
export function SeriesPicker({ names, inAll, shown, onAdd }: PickerProps) {
  const [words, setWords] = useState('');
  const fitting = useMemo(() => names.filter((name) => !shown.has(name) && fits(name, words)), [names, shown, words]);
  const hidden = inAll - shown.size;
  if (hidden <= 0) return null;
  return (
    <details class="picker">
      <summary>More series <span class="count">{step(hidden)}</span></summary>
      <input type="search" placeholder="Search series" aria-label="Search series" value={words} onInput={(e) => setWords(e.currentTarget.value)} />
      <ul>
        {fitting.slice(0, kMostListed).map((name) => (
          <li key={name}><button onClick={() => onAdd(name)}><bdi>{name.slice(0, 200)}</bdi></button></li>
        ))}
      </ul>
      {fitting.length > kMostListed && <p class="quiet">{step(fitting.length - kMostListed)} more; search to find them.</p>}
      {names.length < inAll && <p class="quiet">{step(inAll - names.length)} series are not listed here.</p>}
    </details>
  );
}

export const PinButton = ({ title, arrangement }: { title: string; arrangement: Arrangement }) => (
  <button aria-pressed={arrangement.isPinned(title)} onClick={() => arrangement.pin(title)} title="Show this chart first">pin</button>
);

interface ToolsProps {
  title: string;
  /** The lines that the chart has by itself. */
  lines: string[];
  /** What else can be drawn in it. */
  others: string[];
  arrangement: Arrangement;
}

/** The lines of a chart, to choose from, and all others, to be drawn over them. */
export function ChartTools({ title, lines, others, arrangement }: ToolsProps) {
  const [open, setOpen] = useState(false);
  const [words, setWords] = useState('');
  const over = arrangement.over(title);
  const own = new Set(lines);
  const fitting = open ? others.filter((name) => !own.has(name) && fits(name, words)) : [];
  const changed = over.length + lines.filter((name) => arrangement.isLeftOut(title, name)).length;
  return (
    <>
      <details class="columns lines" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>lines{changed > 0 && <span class="count"> {changed}</span>}</summary>
        {open && (
          <div class="sheet">
            <fieldset>
              <legend>In this chart</legend>
              {lines.map((name) => (
                <label key={name}><input type="checkbox" checked={!arrangement.isLeftOut(title, name)} onChange={() => arrangement.leaveOut(title, name)} /> <bdi>{name.slice(0, 120)}</bdi></label>
              ))}
            </fieldset>
            <input type="search" placeholder="Search series" aria-label="Search series to draw over this chart" value={words} onInput={(e) => setWords(e.currentTarget.value)} />
            <fieldset>
              <legend>Drawn over it, by the axis on the right</legend>
              {fitting.length === 0 && <span class="quiet small">none</span>}
              {fitting.slice(0, kMostListed).map((name) => (
                <label key={name}><input type="checkbox" checked={over.includes(name)} onChange={() => arrangement.overlay(title, name)} /> <bdi>{name.slice(0, 120)}</bdi></label>
              ))}
            </fieldset>
            {fitting.length > kMostListed && <p class="quiet small">{step(fitting.length - kMostListed)} more; search to find them.</p>}
          </div>
        )}
      </details>
      <PinButton title={title} arrangement={arrangement} />
    </>
  );
}
