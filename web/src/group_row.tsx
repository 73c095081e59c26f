// Groups in the list of runs: which setting they go by, and a row above the members of each.
import { useMemo } from 'preact/hooks';
import type { Card, Status } from './api';
import type { Table } from './columns';
import { type Group, groupingKeys, kBySeed, meanOf } from './grouping';
import { Badge, number } from './words';

const kMostCompared = 60;

/** How the runs of the list are grouped: by their settings as far as they are known. */
export const groupedBy = (table: Table) => ({ nameOf: (card: Card) => card.name, settingsOf: (card: Card) => table.get(card.id)?.configuration ?? {} });

export function GroupSheet({ by, table, onChoose, onOpen }: { by: string; table: Table; onChoose: (by: string) => void; onOpen: (open: boolean) => void }) {
  const keys = useMemo(() => groupingKeys([...table.values()].map((row) => row.configuration)), [table]);
  const choices = [['', 'no groups'], [kBySeed, 'the same but for the seed'], ...keys.map((key) => [key, key])] as [string, string][];
  return (
    <details class="columns" onToggle={(event) => onOpen(event.currentTarget.open)}>
      <summary>Group <span class="count">{by === kBySeed ? 'but for the seed' : by ? `by ${by.slice(0, 40)}` : ''}</span></summary>
      <div class="sheet">
        <fieldset>
          <legend>Take together runs that share</legend>
          {choices.map(([value, title]) => <label key={value}><input type="radio" name="group" checked={by === value} onChange={() => onChoose(value)} /> <bdi>{title.slice(0, 60)}</bdi></label>)}
        </fieldset>
        <p class="quiet small">Settings come from the configuration of the runs.</p>
      </div>
    </details>
  );
}

interface GroupRowProps {
  group: Group<Card>;
  top: number;
  height: number;
  layout: string | undefined;
  ranks: Status[];
  by: string;
  chosen: boolean;
  onChoose: () => void;
}

export function GroupRow({ group, top, height, layout, ranks, by, chosen, onChoose }: GroupRowProps) {
  const worst = ranks.find((status) => group.members.some((card) => card.status === status)) ?? 'unexamined';
  const losses = meanOf(group.members.map((card) => card.loss).filter((loss): loss is number => typeof loss === 'number' && Number.isFinite(loss)));
  const address = `#/compare/${group.members.slice(0, kMostCompared).map((card) => card.id).join(',')}?group=${encodeURIComponent(by)}`;
  const title = <bdi>{group.label.slice(0, 200)}</bdi>;
  return (
    <div class="row group" role="row" style={{ top: `${top}px`, height: `${height}px`, gridTemplateColumns: layout }}>
      <span class="cell choose" role="cell"><input type="checkbox" checked={chosen} onChange={onChoose} aria-label={`Choose the runs of ${group.label.slice(0, 200)}`} /></span>
      <span class="cell status" role="cell"><Badge status={worst} /></span>
      <span class="cell title" role="cell">
        {group.members.length > 1 ? <a class="name" href={address}>{title}</a> : <span class="name">{title}</span>}
        <span class="headline">{group.members.length} {group.members.length === 1 ? 'run' : 'runs'}{group.members.length > 1 ? ': mean and band of their curves' : ''}</span>
      </span>
      <span class="cell curve" role="cell" />
      <span class="cell figure loss" role="cell">{losses && number(losses.mean)}{losses?.deviation != null && <span class="headline"> ± {number(Number(losses.deviation.toPrecision(2)))}</span>}</span>
    </div>
  );
}
