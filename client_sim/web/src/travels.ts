// Where each message may travel (WIRE.md, Messages).

import { Stream } from './frames';
import type { ServerMessage } from './server_messages';

/** undefined is unreliable; null: nowhere. */
export const travels: Record<ServerMessage['type'], Stream | undefined | null> = {
  welcome: Stream.control,
  snapshot: undefined,
  chat: Stream.chat,
  content: Stream.bulk,
  contentRefused: Stream.bulk,
  actAnswers: Stream.edits,
  blockEdits: Stream.edits,
  blockKinds: Stream.control,
  saved: Stream.edits,
  fight: Stream.events,
  inventory: Stream.events,
  blockContents: Stream.edits,
  weaponKinds: Stream.control,
  monsterShows: Stream.control,
  carried: Stream.events,
  score: Stream.events,
  replicatedKinds: Stream.control,
  gameMessage: Stream.events,
  unknown: null,
};
