// Added fields of entities by lists beside plain snapshots (WIRE.md, Replicated kinds).

import { check } from './bytes';
import { kindOf, type Replication } from './replication';
import { ticksSince } from './snapshot';

/** One field of an entity, in steps. */
export interface FieldValue {
  id: number;
  kind: number;
  field: number;
  steps: number;
}

/** Those of an entity as of a tick. */
export interface KnownFields {
  tick: number;
  kind: number;
  /** By lists: undefined where it was not named. */
  fields: (number | undefined)[];
}

export class FieldView {
  private readonly entities = new Map<number, KnownFields>();

  /** Of an entity that is mentioned, a field for all that is not named is 0; others are not for this client. Throws a WireError for fields that no kind has. */
  take(tick: number, values: readonly FieldValue[], replication: Replication): void {
    for (const { id, kind, field, steps } of values) {
      const declared = kindOf(replication, kind)?.fields ?? [];
      check(field < declared.length && steps < 2 ** declared[field].bits, 'a field');
      let known = this.entities.get(id);
      if (known && ticksSince(known.tick, tick) > 0) continue;
      if (!known || known.tick !== tick || known.kind !== kind) {
        this.entities.set(id, (known = { tick, kind, fields: declared.map(({ to }) => (to === 'all' ? 0 : undefined)) }));
      }
      known.fields[field] = steps;
    }
  }

  /** Who was last mentioned more than `lifeTicks` before `tick` is gone. */
  expire(tick: number, lifeTicks: number): void {
    for (const [id, known] of this.entities) if (ticksSince(tick, known.tick) > lifeTicks) this.entities.delete(id);
  }

  find(id: number): KnownFields | undefined {
    return this.entities.get(id);
  }
}
