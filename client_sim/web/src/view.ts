// What a client knows of the world around it, by snapshots of either encoding.

import { BlockView } from './block_view';
import { fieldsFor, type Audience, type Replication } from './replication';
import { ticksSince, type Entity, type OwnPlayer, type SnapshotHead, type SnapshotPart } from './snapshot';

/** Fed with parts of snapshots, asked for entities. */
export class View {
  private readonly blocks: BlockView;
  private parts = new Set<number>();

  /** The newest tick of which a part came; 0: none. */
  tick = 0;
  /** The newest tick of which every part came and could be read; 0: none. */
  completeTick = 0;
  /** The own player as of ownTick. */
  own: OwnPlayer | undefined;
  ownTick = 0;

  constructor(tickRateHz: number) {
    this.blocks = new BlockView(tickRateHz);
  }

  /** Of snapshots that cannot be read any more; 0: none. Inputs say it until another epoch comes. */
  get lostEpoch(): number {
    return this.blocks.lostEpoch;
  }

  /** Throws a WireError where an item is none against its base. */
  take(part: SnapshotPart): void {
    const own = this.blocks.take(part);
    this.count(part, this.blocks.whole);
    this.takeOwn(part.tick, own);
  }

  /** A part was left out that counts as arrived: inputs say so, as for one that could not be read. */
  lose(): void {
    this.blocks.lose();
  }

  /** What the world tells of its kinds; to be set before anything of them is taken. */
  get replication(): Replication {
    return this.blocks.replication;
  }
  set replication(told: Replication) {
    this.blocks.replication = told;
  }

  /** A field that the world's game adds to an entity; undefined: not known, none, or not for this player. */
  field(id: number, name: string): number | undefined {
    for (const to of ['all', 'owner', 'team'] as Audience[]) {
      const known = this.blocks.findFields(id, to);
      const field = known && fieldsFor(this.replication, known.kind, to).find((one) => one.name === name);
      const steps = field && known.fields[field.number];
      if (field && steps !== undefined) return field.low + field.step * steps;
    }
    return undefined;
  }

  private count(head: SnapshotHead, whole: boolean): void {
    const since = this.tick === 0 ? 1 : ticksSince(head.tick, this.tick);
    if (since > 0) {
      this.tick = head.tick;
      this.parts = new Set();
    }
    if (since >= 0 && whole) {
      this.parts.add(head.part);
      if (this.parts.size === head.partCount) this.completeTick = head.tick;
    }
  }

  private takeOwn(tick: number, own: OwnPlayer | undefined): void {
    if (!own || (this.ownTick !== 0 && ticksSince(tick, this.ownTick) <= 0)) return;
    this.own = own;
    this.ownTick = tick;
  }

  /** Everybody, the own player too where the server tells of it, by ascending id; each as of its newest tick. */
  entities(): Entity[] {
    const newest = new Map<number, { entity: Entity; tick: number }>();
    for (const seen of this.blocks.seen()) {
      const other = newest.get(seen.entity.id);
      if (!other || ticksSince(seen.tick, other.tick) > 0) newest.set(seen.entity.id, seen);
    }
    return [...newest.values()].map(({ entity }) => entity).sort((a, b) => a.id - b.id);
  }
}
