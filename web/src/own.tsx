// What a reader adds to a run: tags and a note, kept in this browser alone.
import { useState } from 'preact/hooks';
import { remember, remembered } from './columns';

export interface Own {
  tags: string[];
  note: string;
}

const kOwn = 'osler.own';
const kNothing: Own = { tags: [], note: '' };

export const allOwn = () => remembered<Record<string, Own>>(kOwn, {});

/** The words to search a run by that its reader gave it. */
export const wordsOf = (own: Own | undefined) => (own ? `${own.tags.join(' ')} ${own.note}` : '');

export const Tags = ({ own }: { own: Own | undefined }) => <>{own?.tags.map((tag) => <span key={tag} class="tag"><bdi>{tag.slice(0, 40)}</bdi></span>)}</>;

/** Tags and note of a run, to read and to change. */
export function OwnWords({ id }: { id: string }) {
  const [own, setOwn] = useState<Own>(() => allOwn()[id] ?? kNothing);
  const change = (next: Own) => {
    setOwn(next);
    const all = allOwn();
    if (next.tags.length === 0 && next.note === '') delete all[id];
    else all[id] = next;
    remember(kOwn, all);
  };
  return (
    <details class="own">
      <summary>{own.tags.length === 0 && own.note === '' ? 'Add tags or a note' : <><Tags own={own} /> <bdi class="quiet">{own.note.slice(0, 200)}</bdi></>}</summary>
      <label>Tags <input value={own.tags.join(' ')} placeholder="baseline paper" onInput={(e) => change({ ...own, tags: [...new Set(e.currentTarget.value.split(/\s+/).filter(Boolean))] })} /></label>
      <label>Note <textarea rows={2} value={own.note} onInput={(e) => change({ ...own, note: e.currentTarget.value.slice(0, 4000) })} /></label>
      <p class="quiet small">Kept in this browser alone; the list of runs is searched by them too.</p>
    </details>
  );
}
