// Entities by numbered blocks, and the bases that snapshots are read against (WIRE.md, Snapshots).

import type { BlockState, Cell, MovingEntity, PrivateEntity } from './block_delta';
import { check } from './bytes';
import type { OwnState } from './own_delta';
import { noReplication, type Audience, type Replication } from './replication';
import {
  positionIn, ticksSince, type Entity, type OwnPlayer, type SeenEntity, type SnapshotItem, type SnapshotPart,
} from './snapshot';

const groupsMax = 4096;
const ownStatesMax = 256;
const movedMax = 4096;
// No base is farther back than a byte can say.
const blockStatesMax = 256;
// Entities, and states, of which each takes memory without any. More than any server tells: who has to keep more
// forgets all and asks anew.
const keptMax = 2 ** 18;

/** What something was at the ticks that may still be bases, oldest first. */
class History<State> {
  readonly states: { tick: number; state: State }[] = [];

  constructor(private readonly statesMax: number) {}

  at(tick: number): State | undefined {
    return this.states.find((known) => known.tick === tick)?.state;
  }
  get newest(): { tick: number; state: State } | undefined {
    return this.states[this.states.length - 1];
  }
  isNewer(tick: number): boolean {
    return this.newest === undefined || tick > this.newest.tick;
  }
  /** Bases only get newer: what is older than this state's is of no use any more. @returns what was dropped */
  keep(tick: number, state: State, baseTick: number): State[] {
    const behind = this.states.findIndex((known) => known.tick > tick);
    this.states.splice(behind < 0 ? this.states.length : behind, 0, { tick, state });
    return this.dropFront(Math.max(this.countBefore(baseTick), this.states.length - this.statesMax));
  }
  dropBefore(tick: number): State[] {
    return this.dropFront(this.countBefore(tick));
  }
  private countBefore(tick: number): number {
    const kept = this.states.findIndex((known) => known.tick >= tick);
    return kept < 0 ? this.states.length : kept;
  }
  private dropFront(count: number): State[] {
    return this.states.splice(0, count).map(({ state }) => state);
  }
}

interface NumberedBlock {
  history: History<BlockState>;
  /** What is of this tick or older is forgotten. */
  goneTick: number;
}

function entityOf(cell: Cell, { place, velocity: _velocity, fields: _fields, ...rest }: MovingEntity): Entity {
  return { ...rest, positionM: positionIn(cell, place) };
}

/** The added fields of an entity as of a tick, in steps. */
export interface KnownFields {
  tick: number;
  kind: number;
  fields: number[];
}

/** Where somebody was last told to be. */
interface Whereabouts {
  tick: number;
  cell: Cell;
  entity: MovingEntity;
}

/** Entities whose fields only some are told. */
interface Group {
  to: Audience;
  tick: number;
  entities: PrivateEntity[];
}

function ownOf(own: OwnState): OwnPlayer {
  return {
    id: own.id,
    velocityMps: own.numbers.slice(0, 3) as OwnPlayer['velocityMps'],
    positionM: own.numbers.slice(3, 6) as OwnPlayer['positionM'],
    grounded: own.grounded !== 0,
    health: own.health,
    deltaYaw: own.deltaYaw,
  };
}

/** Fed with parts in any order, late and twice. Keeps bounded states, whatever a server tells. */
export class BlockView {
  private readonly blocks = new Map<number, NumberedBlock>();
  private readonly groups = new Map<string, Group>();
  private own = new History<OwnState>(ownStatesMax);
  /** Those between two blocks, by id. */
  private readonly moved = new Map<number, { since: number; number: number; seen: SeenEntity }>();
  private kept = 0;  // of keptMax
  private epoch = 0;
  private epochTick = 0;
  private newestTick = 0;

  /** Could all that was news in the last part be read? */
  whole = true;
  /** The epoch of which something new could not be read, for the inputs to say; 0: none. */
  lostEpoch = 0;

  /** What the world tells of its kinds. */
  replication: Replication = noReplication;

  constructor(private readonly tickRateHz: number) {}

  /** Ticks wrap after 32 bits; in here they go on, so that they are compared and told apart as numbers. */
  private unwrapped(tick: number): number {
    // From far above 0, which is before all ticks and behind no base.
    return this.newestTick === 0 ? tick + 2 ** 32 : this.newestTick + ticksSince(tick, this.newestTick);
  }

  /** @returns the own player where the part told a newer one */
  take({ tick: told, epoch, items }: SnapshotPart): OwnPlayer | undefined {
    const tick = this.unwrapped(told);
    this.whole = true;
    if (epoch !== this.epoch && (this.epoch === 0 || tick > this.newestTick)) this.begin(epoch, tick);
    this.newestTick = Math.max(this.newestTick, tick);
    if (epoch !== this.epoch || tick < this.epochTick) return undefined;
    // Who moved is where it was before this part, in which its block may be gone.
    const before = items.some(({ type }) => type === 'moved') ? this.whereabouts() : undefined;
    let own: OwnPlayer | undefined;
    for (const item of items) {
      if (item.type === 'block') this.takeBlock(tick, item);
      else if (item.type === 'gone') this.takeGone(tick, item.number);
      else if (item.type === 'moved') this.takeMoved(tick, item, before!);
      else if (item.type === 'own') own = this.takeOwn(tick, item) ?? own;
      else if (item.type === 'fields') this.takeFields(tick, item);
    }
    if (this.moved.size > 0) this.settleMoved();
    if (this.kept > keptMax) {
      this.forget();
      this.lose();
    }
    return own;
  }

  /** Something newer than all that is known cannot be read. */
  lose(): void {
    this.lostEpoch = this.epoch;
    this.whole = false;
  }

  /** What was told in another epoch is gone. */
  private begin(epoch: number, tick: number): void {
    this.forget();
    this.epoch = epoch;
    this.epochTick = tick;
    this.lostEpoch = 0;
  }

  private forget(): void {
    this.blocks.clear();
    this.groups.clear();
    this.moved.clear();
    this.own = new History(ownStatesMax);
    this.kept = 0;
  }

  private blockOf(number: number): NumberedBlock {
    let block = this.blocks.get(number);
    if (!block) this.blocks.set(number, (block = { history: new History(blockStatesMax), goneTick: 0 }));
    return block;
  }

  private takeBlock(tick: number, item: SnapshotItem & { type: 'block' }): void {
    const { history, goneTick } = this.blockOf(item.number);
    if (tick <= goneTick || history.at(tick)) return;
    const baseTick = item.age === 0 ? 0 : tick - item.age;
    const base = item.age === 0 ? undefined : history.at(baseTick);
    if (item.age !== 0 && !base) {
      // One that was overtaken is no loss.
      if (history.isNewer(tick)) this.lose();
      return;
    }
    const state = item.read(base, this.tickRateHz, this.replication);
    this.kept += 1 + state.entities.length;
    this.discount(history.keep(tick, state, baseTick));
  }

  private takeGone(tick: number, number: number): void {
    const block = this.blockOf(number);
    block.goneTick = Math.max(block.goneTick, tick);
    this.discount(block.history.dropBefore(tick + 1));
  }

  /** Everybody who is known, as of the newest tick. One look at all, however many a part says have moved. */
  private whereabouts(): Map<number, Whereabouts> {
    const found = new Map<number, Whereabouts>();
    for (const { history } of this.blocks.values()) {
      for (const { tick, state } of history.states) {
        for (const entity of state.entities) {
          const other = found.get(entity.id);
          if (!other || other.tick < tick) found.set(entity.id, { tick, cell: state.cell, entity });
        }
      }
    }
    return found;
  }

  /** Who is known and not told since is as it was until its block is told. */
  private takeMoved(
    tick: number, { id, number }: SnapshotItem & { type: 'moved' }, before: ReadonlyMap<number, Whereabouts>,
  ): void {
    const there = this.blocks.get(number)?.history.newest;
    const found = before.get(id);
    const known = this.moved.get(id);
    if ((there && there.tick >= tick) || (found && found.tick >= tick) || (known && known.since >= tick)) return;
    const seen = found ? { tick: found.tick, entity: entityOf(found.cell, found.entity) } : known?.seen;
    if (seen && (known || this.moved.size < movedMax)) this.moved.set(id, { since: tick, number, seen });
  }

  /** Who moved is where it is told now; and whom nobody told of for long is not there. */
  private settleMoved(): void {
    const told = new Map<number, number>();  // the newest tick of each, in blocks as they are now
    for (const { history } of this.blocks.values()) {
      const { newest } = history;
      for (const { id } of newest?.state.entities ?? []) told.set(id, Math.max(told.get(id) ?? 0, newest!.tick));
    }
    for (const [id, { since, number }] of this.moved) {
      const block = this.blocks.get(number);
      const there = Math.max(block?.history.newest?.tick ?? 0, block?.goneTick ?? 0) >= since;
      const elsewhere = (told.get(id) ?? 0) >= since;
      if (there || elsewhere || this.newestTick - since > this.tickRateHz) this.moved.delete(id);
    }
  }

  private takeFields(tick: number, item: SnapshotItem & { type: 'fields' }): void {
    const key = `${item.to} ${item.number}`;
    const known = this.groups.get(key);
    if (known && tick <= known.tick) return;
    check(known !== undefined || this.groups.size < groupsMax, 'the number of groups of fields');
    this.groups.set(key, { to: item.to, tick, entities: item.read(this.replication) });
  }

  /** The added fields of an entity that go to an audience, as newest known. */
  findFields(id: number, to: Audience): KnownFields | undefined {
    let found: KnownFields | undefined;
    const consider = (tick: number, entities: readonly PrivateEntity[]): void => {
      const entity = entities.find((one) => one.id === id);
      if (entity && (!found || tick > found.tick)) found = { tick, kind: entity.kind, fields: entity.fields };
    };
    if (to === 'all') {
      for (const { history } of this.blocks.values()) {
        if (history.newest) consider(history.newest.tick, history.newest.state.entities);
      }
    } else {
      for (const group of this.groups.values()) if (group.to === to) consider(group.tick, group.entities);
    }
    return found;
  }

  private discount(dropped: BlockState[]): void {
    for (const state of dropped) this.kept -= 1 + state.entities.length;
  }

  private takeOwn(tick: number, item: SnapshotItem & { type: 'own' }): OwnPlayer | undefined {
    if (!this.own.isNewer(tick)) return undefined;
    const baseTick = item.age === 0 ? 0 : tick - item.age;
    const base = item.age === 0 ? undefined : this.own.at(baseTick);
    if (item.age !== 0 && !base) {
      this.lose();
      return undefined;
    }
    const own = item.read(base, this.tickRateHz);
    this.own.keep(tick, own, baseTick);
    return ownOf(own);
  }

  /** Who is in the newest state of each block: somebody who moved on may be there twice. */
  *seen(): Iterable<SeenEntity> {
    for (const { seen } of this.moved.values()) yield seen;
    for (const { history } of this.blocks.values()) {
      const { newest } = history;
      if (!newest) continue;
      const { cell, entities } = newest.state;
      for (const entity of entities) yield { tick: newest.tick, entity: entityOf(cell, entity) };
    }
  }
}
