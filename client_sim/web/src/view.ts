// What a client knows of those around it: put together from blocks of any order (WIRE.md, Snapshots).

import type { Block, Entity, OwnPlayer, SnapshotPart } from './snapshot';

/** What is known of a range of a cell's ids, as of a tick. */
interface KnownRange {
  first: number;
  last: number;
  tick: number;
  entities: Entity[];
}

/** Ticks are compared as they wrap. */
export function ticksSince(tick: number, earlier: number): number {
  return (tick - earlier) | 0;
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

/** Fed with parts of snapshots, asked for entities. */
export class View {
  private readonly cells = new Map<string, KnownRange[]>();
  private parts = new Set<number>();
  private newestRefreshTicks = 0;

  /** The newest tick of which a part came; 0: none. */
  tick = 0;
  /** The newest tick of which every part came; 0: none. */
  completeTick = 0;
  /** The own player as of ownTick. */
  own: OwnPlayer | undefined;
  ownTick = 0;

  constructor(private readonly tickRateHz: number) {}

  take(part: SnapshotPart): void {
    const since = this.tick === 0 ? 1 : ticksSince(part.tick, this.tick);
    if (since > 0) {
      this.tick = part.tick;
      this.parts = new Set();
      this.newestRefreshTicks = part.refreshTicks;
      this.expire();
    }
    if (since >= 0) {
      this.parts.add(part.part);
      if (this.parts.size === part.partCount) this.completeTick = part.tick;
    }
    if (part.own && (this.ownTick === 0 || ticksSince(part.tick, this.ownTick) > 0)) {
      this.own = part.own;
      this.ownTick = part.tick;
    }
    for (const block of part.blocks) this.takeBlock(part.tick, block);
  }

  private takeBlock(tick: number, block: Block): void {
    const known = this.cells.get(block.cell) ?? [];
    const overlaps = (range: KnownRange): boolean => range.first <= block.last && range.last >= block.first;
    if (known.some((range) => overlaps(range) && ticksSince(range.tick, tick) >= 0)) return;
    const kept = known.flatMap((range) => (overlaps(range) ? outside(range, block.first, block.last) : [range]));
    kept.push({ first: block.first, last: block.last, tick, entities: block.entities });
    this.cells.set(block.cell, kept);
  }

  /** What no snapshot mentioned for a second and twice the newest refresh_ticks is gone. */
  private expire(): void {
    const lifeTicks = this.tickRateHz + 2 * this.newestRefreshTicks;
    for (const [cell, known] of this.cells) {
      const left = known.filter((range) => ticksSince(this.tick, range.tick) <= lifeTicks);
      if (left.length === 0) this.cells.delete(cell);
      else if (left.length < known.length) this.cells.set(cell, left);
    }
  }

  /** Everybody, the own player too where the server tells of it, by ascending id; each as of its newest tick. */
  entities(): Entity[] {
    const newest = new Map<number, { entity: Entity; tick: number }>();
    for (const known of this.cells.values()) {
      for (const range of known) {
        for (const entity of range.entities) {
          const other = newest.get(entity.id);
          if (!other || ticksSince(range.tick, other.tick) > 0) newest.set(entity.id, { entity, tick: range.tick });
        }
      }
    }
    return [...newest.values()].map(({ entity }) => entity).sort((a, b) => a.id - b.id);
  }
}
