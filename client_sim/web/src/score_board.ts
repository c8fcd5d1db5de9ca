// Who follows a match's score: whole at first, then what changed (WIRE.md, Score).

import type { ScoreBoard, ScoreRow } from './server_messages';

export interface ToldScore {
  world: number;
  score: ScoreBoard;
  /** Rows are those that are not as they were, without the names that are known. */
  changes: boolean;
  /** Entities that are in it no more. */
  gone: number[];
}

const rowsMax = 64;

/** The best first, and of those who are alike the one with the lower id. */
function before(a: ScoreRow, b: ScoreRow): number {
  return a.score !== b.score ? b.score - a.score : a.id - b.id;
}

/** What is known once that came; undefined: it does not fit, and what was known holds. */
export function takeScore(known: ToldScore | undefined, told: ToldScore): ToldScore | undefined {
  if (!told.changes) return told;
  if (known === undefined || known.world !== told.world || known.score.match !== told.score.match) return undefined;
  const rows = new Map(known.score.rows.map((row) => [row.id, row]));
  for (const id of told.gone) rows.delete(id);
  for (const row of told.score.rows) {
    const name = row.name === '' ? rows.get(row.id)?.name : row.name;
    if (name === undefined) return undefined;
    rows.set(row.id, { ...row, name });
  }
  if (rows.size > rowsMax) return undefined;
  const score = { ...told.score, rows: [...rows.values()].sort(before) };
  return { world: told.world, score, changes: false, gone: [] };
}
