// The rules of a world, each within what the game was made for (WIRE.md, Messages; world/sim/rules.h).

import type { Rules as WireRules } from '../generated/ashlar/wire/rules';
import { check } from './bytes';

/** Least and most of each, in the order of the table. Of a choice its first and last value. */
export const ruleBounds = {
  tickRateHz: [10, 128], playerSolver: [0, 1], monsterSolver: [0, 1], playerRadiusM: [0.05, 0.49],
  playerHeightM: [0.1, 4], playerEyeM: [0, 4], stepHeightMMax: [0, 1.5], gravityMps2: [0, 200], jumpSpeedMps: [0, 50],
  walkSpeedMpsMax: [0, 60], groundAccelerationMps2: [0, 1000], airAccelerationMps2: [0, 1000],
  groundFrictionPerS: [0, 100], fallSpeedMpsMax: [0.1, 200], shotIntervalS: [0, 60], shotRangeM: [1, 1024],
  keys: [0, 1], playerHealth: [1, 10000], crushDamage: [0, 10000], respawnS: [0, 60], blockReachM: [0, 64],
  blockIntervalS: [0, 60], freeBlocks: [0, 1], mapMarginM: [0, 1024], monstersFight: [0, 1], infighting: [0, 1],
  friendlyFire: [0, 1], monsterRespawnS: [0, 3600], skill: [0, 5], freeAmmo: [0, 2], items: [0, 1],
  itemRespawnS: [0, 3600], mode: [0, 4], fragLimit: [0, 30000], timeLimitS: [0, 36000], warmupS: [0, 3600],
  intermissionS: [1, 3600], keepInventory: [0, 1], itemLifeS: [0, 36000], burstDigM: [0, 4], dayS: [0, 36000],
  matchPlaces: [0, 10000], lives: [0, 1000], fallFreeM: [0, 4096], fallDamage: [0, 1000],
} as const satisfies Partial<Record<keyof WireRules, readonly [number, number]>>;

export type RuleName = keyof typeof ruleBounds;
/** Units are in the names. */
export type Rules = Readonly<Record<RuleName, number>>;

/** Throws a WireError where one is not within its bounds, or is no number. */
export function readRules(wire: WireRules): Rules {
  const rules = Object.fromEntries(Object.entries(ruleBounds).map(([name, [least, most]]) => {
    const value = wire[name as RuleName]();
    check(value >= least && value <= most, `the rule ${name}`);
    return [name, value];
  })) as Rules;
  check(rules.playerEyeM <= rules.playerHeightM, "the height of players' eyes");
  return rules;
}
