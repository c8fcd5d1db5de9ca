// What a server tells of its world beside snapshots: its kinds, its score, its game's messages.

import type { BlockKind } from './block_kinds';
import type { ClientEvent } from './client_events';
import type { Replication } from './replication';
import { takeScore, type ToldScore } from './score_board';
import type { MonsterShow, ServerMessage } from './server_messages';
import type { Welcome } from './welcome';

export class WorldFacts {
  private world: number | undefined;
  private score: ToldScore | undefined;

  /** What the world's blocks are like, by their numbers. */
  blockKinds: BlockKind[] = [];
  /** The names of the world's weapons, by their numbers. */
  weaponNames: string[] = [];
  /** How the world's monsters show, of the kinds that do not as usual. */
  monsterShows: MonsterShow[] = [];
  /** What the world tells of its kinds, and its game's messages; undefined until it told. */
  replication: Replication | undefined;

  /** Another world; who resumes is not told them again. */
  begin({ world, resumed }: Welcome): void {
    this.world = world;
    if (resumed) return;
    this.blockKinds = [];
    this.weaponNames = [];
    this.monsterShows = [];
    this.replication = undefined;
    this.score = undefined;
  }

  /** Is everything known that one has to know before one is in the world? */
  get complete(): boolean {
    return this.blockKinds.length > 0 && this.replication !== undefined;
  }

  /** @returns what the game hears of it; undefined: nothing; false: it makes no sense now */
  take(message: ServerMessage): ClientEvent | undefined | false {
    if (!('world' in message) || message.world !== this.world) return false;
    switch (message.type) {
      case 'blockKinds':
        if (this.blockKinds.length > 0) return false;
        this.blockKinds = message.kinds;
        return undefined;
      case 'replicatedKinds':
        if (this.replication) return false;
        this.replication = message.replication;
        return undefined;
      case 'weaponKinds':
        this.weaponNames = message.names;
        return undefined;
      case 'monsterShows':
        this.monsterShows = message.kinds;
        return undefined;
      case 'score': {
        const score = takeScore(this.score, message);
        if (score === undefined) return false;
        this.score = score;
        return { type: 'score', score: score.score };
      }
      case 'gameMessage': {
        const kind = this.replication?.messages[message.number];
        if (!kind || message.bytes.length > kind.bytesMax) return false;
        return { type: 'gameMessage', tick: message.tick, name: kind.name, bytes: message.bytes };
      }
      default:
        return message;
    }
  }
}
