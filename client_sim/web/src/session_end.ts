// Why a session ended: the reasons of closes (WIRE.md, Closes).

export const closeReasons = {
  done: 1, timeout: 2, malformed: 3, bad_ack: 4, flow_control: 5, bad_stream: 6, keys_spent: 7,
  shutting_down: 64, full: 65, content: 66, banned: 67, bad_name: 68, too_many_from_address: 69, kicked: 70,
  overload: 71, protocol: 72, bad_hello: 73, replaced: 74, name_taken: 75, away_too_long: 76,
  token_missing: 96, token_malformed: 97, token_truncated: 98, token_wrong_version: 99, token_bad_signature: 100,
  token_unknown_issuer: 101, token_expired: 102, token_not_yet: 103, token_other_client: 104,
  token_other_server: 105,
  quit: 128, stopped: 129, lacks_content: 130, unknown_terrain: 131,
} as const;

export type CloseReason = keyof typeof closeReasons;

/** The reason's name, or its number where this version does not know it. */
export function reasonName(reason: number): string {
  return Object.entries(closeReasons).find(([, number]) => number === reason)?.[0] ?? String(reason);
}

/** How a connection ended. */
export interface ConnectionEnd {
  reason: number;
  text: string;
  byPeer: boolean;
}
