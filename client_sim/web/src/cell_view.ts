// Entities by cells and ranges of ids, put together from plain snapshots in any order (WIRE.md, Snapshots).

import type { Block } from './plain';
import { ticksSince, type Entity, type SeenEntity } from './snapshot';

/** What is known of a range of a cell's ids, as of a tick. */
interface KnownRange {
  first: number;
  last: number;
  tick: number;
  entities: Entity[];
}

/** What is left of a range beside [first, last]: up to two parts. */
function outside(range: KnownRange, first: number, last: number): KnownRange[] {
  const part = (from: number, to: number): KnownRange => ({
    first: from, last: to, tick: range.tick,
    entities: range.entities.filter((entity) => entity.id >= from && entity.id <= to),
  });
  const parts: KnownRange[] = [];
  if (range.first < first) parts.push(part(range.first, Math.min(range.last, first - 1)));
  if (range.last > last) parts.push(part(Math.max(range.first, last + 1), range.last));
  return parts;
}

export class CellView {
  private readonly cells = new Map<string, KnownRange[]>();

  /** A block replaces what was known of its range, unless something of that is as new. */
  take(tick: number, block: Block): void {
    const known = this.cells.get(block.cell) ?? [];
    const overlaps = (range: KnownRange): boolean => range.first <= block.last && range.last >= block.first;
    if (known.some((range) => overlaps(range) && ticksSince(range.tick, tick) >= 0)) return;
    const kept = known.flatMap((range) => (overlaps(range) ? outside(range, block.first, block.last) : [range]));
    kept.push({ first: block.first, last: block.last, tick, entities: block.entities });
    this.cells.set(block.cell, kept);
  }

  /** What was last mentioned more than `lifeTicks` before `tick` is gone. */
  expire(tick: number, lifeTicks: number): void {
    for (const [cell, known] of this.cells) {
      const left = known.filter((range) => ticksSince(tick, range.tick) <= lifeTicks);
      if (left.length === 0) this.cells.delete(cell);
      else if (left.length < known.length) this.cells.set(cell, left);
    }
  }

  /** Who was told of, and when: somebody who moved on may be there twice. */
  *seen(): Iterable<SeenEntity> {
    for (const known of this.cells.values()) {
      for (const { tick, entities } of known) for (const entity of entities) yield { tick, entity };
    }
  }
}
