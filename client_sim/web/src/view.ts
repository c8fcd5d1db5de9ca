// What a client knows of the world around it, by snapshots of either encoding.

import { BlockView } from './block_view';
import { CellView } from './cell_view';
import { FieldView, type FieldValue } from './field_view';
import type { PackedPart } from './packed';
import type { PlainPart } from './plain';
import { fieldsFor, type Audience, type Replication } from './replication';
import { ticksSince, type Entity, type OwnPlayer, type SnapshotHead } from './snapshot';

/** Fed with parts of snapshots, asked for entities. */
export class View {
  private readonly cells = new CellView();
  private readonly blocks: BlockView;
  private readonly fields = new FieldView();
  private refreshTicks = 0;
  private parts = new Set<number>();

  /** The newest tick of which a part came; 0: none. */
  tick = 0;
  /** The newest tick of which every part came; 0: none. */
  completeTick = 0;
  /** The own player as of ownTick. */
  own: OwnPlayer | undefined;
  ownTick = 0;

  constructor(private readonly tickRateHz: number) {
    this.blocks = new BlockView(tickRateHz);
  }

  /** Of packed snapshots that cannot be read any more; 0: none. Inputs say it until another epoch comes. */
  get lostEpoch(): number {
    return this.blocks.lostEpoch;
  }

  takePlain(part: PlainPart): void {
    // What no snapshot mentioned for a second and twice the newest refresh_ticks is gone.
    if (this.count(part)) {
      this.refreshTicks = part.refreshTicks;
      this.cells.expire(this.tick, this.tickRateHz + 2 * part.refreshTicks);
    }
    this.takeOwn(part.tick, part.own);
    for (const block of part.blocks) this.cells.take(part.tick, block);
  }

  /** Throws a WireError where an item is none against its base. */
  takePacked(part: PackedPart): void {
    this.count(part);
    this.takeOwn(part.tick, this.blocks.take(part));
  }

  /** Throws a WireError for fields that no kind has. */
  takeFields(tick: number, values: readonly FieldValue[]): void {
    this.fields.take(tick, values, this.replication);
    this.fields.expire(this.tick, this.tickRateHz + 2 * this.refreshTicks);
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
      const known = this.blocks.findFields(id, to) ?? this.fields.find(id);
      const field = known && fieldsFor(this.replication, known.kind, to).find((one) => one.name === name);
      const steps = field && known.fields[field.number];
      if (field && steps !== undefined) return field.low + field.step * steps;
    }
    return undefined;
  }

  /** @returns true when it is of a newer tick than all before */
  private count(head: SnapshotHead): boolean {
    const since = this.tick === 0 ? 1 : ticksSince(head.tick, this.tick);
    if (since > 0) {
      this.tick = head.tick;
      this.parts = new Set();
    }
    if (since >= 0) {
      this.parts.add(head.part);
      if (this.parts.size === head.partCount) this.completeTick = head.tick;
    }
    return since > 0;
  }

  private takeOwn(tick: number, own: OwnPlayer | undefined): void {
    if (!own || (this.ownTick !== 0 && ticksSince(tick, this.ownTick) <= 0)) return;
    this.own = own;
    this.ownTick = tick;
  }

  /** Everybody, the own player too where the server tells of it, by ascending id; each as of its newest tick. */
  entities(): Entity[] {
    const newest = new Map<number, { entity: Entity; tick: number }>();
    for (const source of [this.cells, this.blocks]) {
      for (const seen of source.seen()) {
        const other = newest.get(seen.entity.id);
        if (!other || ticksSince(seen.tick, other.tick) > 0) newest.set(seen.entity.id, seen);
      }
    }
    return [...newest.values()].map(({ entity }) => entity).sort((a, b) => a.id - b.id);
  }
}
