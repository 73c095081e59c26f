// Search: which runs of a list somebody asks for.
import type { Card } from './api';
import { conditionOf, type Table } from './columns';
import { type Own, wordsOf } from './own';

/** The runs in which every word occurs and every condition holds. */
export function found(cards: Card[], words: string, table: Table, own: Record<string, Own>): Card[] {
  const all = words.split(/\s+/).filter(Boolean);
  if (all.length === 0) return cards;
  const conditions = all.map(conditionOf).filter((condition) => condition !== null);
  const wanted = all.filter((word) => !conditionOf(word)).map((word) => word.toLowerCase());
  return cards.filter((card) => {
    const text = `${card.name} ${card.headline} ${card.format} ${wordsOf(own[card.id])}`.toLowerCase();
    return wanted.every((word) => text.includes(word)) && conditions.every((holds) => holds(table.get(card.id)));
  });
}
