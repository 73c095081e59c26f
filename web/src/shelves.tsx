// Shelves: runs that are put away. Hidden ones are so in this browser, archived ones for everybody, by the server's --archive.
import type { Card } from './api';
import { remember, remembered } from './columns';
import { step } from './words';

export const kShelves = ['', 'hidden', 'archived'] as const;
export type Shelf = (typeof kShelves)[number];

const kHidden = 'osler.hidden';

export const hiddenRuns = () => new Set(remembered<string[]>(kHidden, []));
export const hideRuns = (ids: Iterable<string>) => remember(kHidden, [...new Set(ids)]);

/** What lies where; what is both hidden and archived is archived. */
export function shelvesOf(cards: Iterable<Card>, hidden: Set<string>): Record<Shelf, Card[]> {
  const shelves: Record<Shelf, Card[]> = { '': [], hidden: [], archived: [] };
  for (const card of cards) shelves[card.archived ? 'archived' : hidden.has(card.id) ? 'hidden' : ''].push(card);
  return shelves;
}

/** A way to what is put away, where there is any, and back. */
export function Shelves({ shelves, shelf, onChoose }: { shelves: Record<Shelf, Card[]>; shelf: Shelf; onChoose: (shelf: Shelf) => void }) {
  return (
    <>
      {kShelves.filter((one) => one !== '' && (shelves[one].length > 0 || shelf === one)).map((one) => (
        <button key={one} aria-pressed={shelf === one} onClick={() => onChoose(shelf === one ? '' : one)} title={one === 'hidden' ? 'Hidden in this browser' : 'Put away for everybody, by --archive'}>
          {one === 'hidden' ? 'Hidden' : 'Archived'} {step(shelves[one].length)}
        </button>
      ))}
    </>
  );
}
