// What a client tells its game, kept until it is asked for.

import type { BlockChange } from './block_changes';
import { fetchBytesUsual } from './content_fetch';
import type { Cue } from './cues';
import type { ActAnswer, Hit, ScoreBoard, SlotChange } from './server_messages';
import type { Welcome } from './welcome';

export type ClientEvent =
  | { type: 'welcome'; welcome: Welcome }
  | { type: 'playing'; resumed: boolean }
  | { type: 'chat'; from: string; text: string }
  | { type: 'content'; hash: bigint; bytes: Uint8Array }
  | { type: 'actAnswers'; answers: ActAnswer[] }
  | { type: 'blockEdits'; changes: BlockChange[] }
  /** What happened up to this tick survives a power cut. */
  | { type: 'saved'; tick: number }
  /** The own health and armour in points, and who was hit. */
  | { type: 'fight'; health: number; armour: number; hits: Hit[] }
  | { type: 'inventory'; whole: boolean; slots: SlotChange[] }
  /**
   * The chest that the player looks into (`open`; without, no longer), and signs and timers near it; one that is left
   * behind has neither text nor `due` any more. Whoever keeps them forgets all at each `welcome`: what is still so
   * is told anew.
   */
  | {
    type: 'blockContents'; open: boolean; block: [number, number, number]; slots: SlotChange[]; text: string;
    due: bigint;
  }
  | { type: 'carried'; weapons: number; ammo: number[]; held: number; picked: number[] }
  | { type: 'score'; score: ScoreBoard }
  /** Of the server's own game, by the name of its kind. */
  | { type: 'gameMessage'; tick: number; name: string; bytes: Uint8Array }
  /** What only shows, as it came: each once, and what was lost never. A cue happened its age before the tick. */
  | { type: 'cues'; tick: number; cues: Cue[] }
  | { type: 'seeking'; why: string }
  /** The session that was sought is heard again by itself. */
  | { type: 'found' }
  | { type: 'ended'; reason: string; text: string; byServer: boolean };

// Events take several times the bytes of their messages.
export const eventsMax = 4096;
export const eventBytesMax = 2 * 1024 * 1024;
/** One world's content; with another's in it, too, the oldest gives way. */
export const contentBytesKept = fetchBytesUsual;

/** First in, first out; where nobody takes them the oldest give way, so that a server fills no memory. */
class Queue {
  private readonly events: { event: ClientEvent; bytes: number; at: number }[] = [];
  private bytes = 0;

  constructor(private readonly countMax: number, private readonly bytesMax: number) {}

  /** @returns how many gave way */
  push(event: ClientEvent, bytes: number, at: number): number {
    this.events.push({ event, bytes, at });
    this.bytes += bytes;
    let over = 0;
    while (this.events.length - over > 1 && (this.events.length - over > this.countMax || this.bytes > this.bytesMax)) {
      this.bytes -= this.events[over++].bytes;
    }
    this.events.splice(0, over);
    return over;
  }
  take(): { event: ClientEvent; at: number }[] {
    this.bytes = 0;
    return this.events.splice(0);
  }
}

export class EventQueue {
  private readonly usual = new Queue(eventsMax, eventBytesMax);
  private readonly content = new Queue(eventsMax, contentBytesKept);
  private pushed = 0;
  /** That nobody took in time. */
  missed = 0;

  /** @param bytes of the message that it comes of, or of what it holds */
  push(event: ClientEvent, bytes = 0): void {
    const queue = event.type === 'content' ? this.content : this.usual;
    this.missed += queue.push(event, bytes, this.pushed++);
  }
  /** In the order in which they came. */
  take(): ClientEvent[] {
    const all = [...this.usual.take(), ...this.content.take()];
    return all.sort((a, b) => a.at - b.at).map(({ event }) => event);
  }
}
