// What a server says, and what a lying one says: messages with what a test wants in them.

import { Builder } from 'flatbuffers';

import { AmmoLimits } from '../generated/ashlar/wire/ammo-limits';
import { Arsenal } from '../generated/ashlar/wire/arsenal';
import { BlockChange } from '../generated/ashlar/wire/block-change';
import { BlockEdits } from '../generated/ashlar/wire/block-edits';
import { Carried } from '../generated/ashlar/wire/carried';
import { KindBody } from '../generated/ashlar/wire/kind-body';
import { PlacedMap } from '../generated/ashlar/wire/placed-map';
import { PlacedProp } from '../generated/ashlar/wire/placed-prop';
import { ProtectedZone } from '../generated/ashlar/wire/protected-zone';
import { Rules as WireRules } from '../generated/ashlar/wire/rules';
import { Score } from '../generated/ashlar/wire/score';
import { ScoreRow } from '../generated/ashlar/wire/score-row';
import { ServerBody } from '../generated/ashlar/wire/server-body';
import { Weapon } from '../generated/ashlar/wire/weapon';
import { WeaponKinds } from '../generated/ashlar/wire/weapon-kinds';
import { Welcome } from '../generated/ashlar/wire/welcome';
import { messageOf } from './support';

/** In the order of the table, as a server has them that changes none. */
export const usualRules = {
  tickRateHz: 60, playerSolver: 0, monsterSolver: 0, playerRadiusM: 0.3, playerHeightM: 1.75, playerEyeM: 1.6,
  stepHeightMMax: 0.75, gravityMps2: 20, jumpSpeedMps: 7, walkSpeedMpsMax: 6, groundAccelerationMps2: 60,
  airAccelerationMps2: 12, groundFrictionPerS: 8, fallSpeedMpsMax: 60, shotIntervalS: 0.4, shotRangeM: 64, keys: 1,
  playerHealth: 100, crushDamage: 10, respawnS: 4, blockReachM: 5, blockIntervalS: 0.2, freeBlocks: 1, mapMarginM: 6,
  monstersFight: 1, infighting: 1, friendlyFire: 0, monsterRespawnS: 0, skill: 0, freeAmmo: 2, items: 1,
  itemRespawnS: 30, mode: 0, fragLimit: 0, timeLimitS: 0, warmupS: 0, intermissionS: 10, keepInventory: 0,
  itemLifeS: 600, burstDigM: 0, dayS: 0, matchPlaces: 0, lives: 0, fallFreeM: 0, fallDamage: 5,
};
export type WrittenRules = typeof usualRules;

export type Six = [number, number, number, number, number, number];

export interface WrittenWelcome {
  rules: Partial<WrittenRules>;
  world: number;
  resumed: boolean;
  every: number;
  motd: string;
  map: [name: string, x: number, y: number, z: number] | undefined;
  /** By the hash of each. */
  props: { hash: bigint; x?: number; scale?: number; flags?: number }[];
  bodies: [kind: number, radius: number, height: number][];
  zones: Six[];
  zoneNames: string[];
  columns: [low: number, high: number];
  ageTicks: bigint;
  tick: number;
}

export function writeWelcome(wanted: Partial<WrittenWelcome> = {}): Uint8Array {
  const { world = 1, resumed = false, every = 1, motd = '', props = [], bodies = [], zones = [] } = wanted;
  return messageOf(ServerBody.Welcome, (builder) => {
    const values = Object.values({ ...usualRules, ...wanted.rules });
    const rules = (WireRules.createRules as (builder: Builder, ...rules: number[]) => number)(builder, ...values);
    const token = Welcome.createResetTokenVector(builder, new Uint8Array(16).fill(7));
    const motdAt = builder.createString(motd);
    let maps = 0;
    if (wanted.map) {
      const [name, x, y, z] = wanted.map;
      const nameAt = builder.createString(name);
      maps = Welcome.createMapsVector(builder, [PlacedMap.createPlacedMap(builder, nameAt, 5n, x, y, z, 0)]);
    }
    const names = Welcome.createPropNamesVector(builder, [builder.createString('crate.obj')]);
    const zoneNames = Welcome.createZoneNamesVector(
      builder, (wanted.zoneNames ?? zones.map(() => '')).map((name) => builder.createString(name)));
    Welcome.startPropsVector(builder, props.length);
    for (const { hash, x = 0, scale = 1, flags = 0 } of [...props].reverse()) {
      PlacedProp.createPlacedProp(builder, hash, x, 0, 0, scale, 0, 0, flags);
    }
    const propsAt = builder.endVector();
    Welcome.startKindBodiesVector(builder, bodies.length);
    for (const [kind, radius, height] of [...bodies].reverse()) KindBody.createKindBody(builder, radius, height, kind);
    const bodiesAt = builder.endVector();
    Welcome.startZonesVector(builder, zones.length);
    for (const zone of [...zones].reverse()) ProtectedZone.createProtectedZone(builder, ...zone);
    const zonesAt = builder.endVector();
    Welcome.startWelcome(builder);
    Welcome.addResetToken(builder, token);
    Welcome.addResumed(builder, resumed);
    Welcome.addWorld(builder, world);
    Welcome.addTick(builder, wanted.tick ?? 990);
    Welcome.addSnapshotEveryTicks(builder, every);
    Welcome.addRules(builder, rules);
    if (maps) Welcome.addMaps(builder, maps);
    Welcome.addMotd(builder, motdAt);
    Welcome.addProps(builder, propsAt);
    Welcome.addPropNames(builder, names);
    Welcome.addKindBodies(builder, bodiesAt);
    Welcome.addColumnsLow(builder, wanted.columns?.[0] ?? 0);
    Welcome.addColumnsHigh(builder, wanted.columns?.[1] ?? 0);
    Welcome.addZones(builder, zonesAt);
    Welcome.addZoneNames(builder, zoneNames);
    Welcome.addAgeTicks(builder, wanted.ageTicks ?? 0n);
    return Welcome.endWelcome(builder);
  });
}

/** In the order of the table, behind the name. */
export const usualWeapon = {
  form: 1, ammo: 0, slot: 2, rank: 1, start: 1, count: 1, steady: 1, uses: 1, damageStep: 5, damageSides: 3,
  strengthTimes: 1, spreadDeg: 5, riseDeg: 0, rangeM: 0, windupS: 0, intervalS: 0.4, lowerS: 0.4, raiseS: 0.4, clip: 0,
  reloadS: 0, chargeS: 0, throwLeast: 1, fuseS: 0,
};

export function writeWeapons(
  changed: Partial<typeof usualWeapon> = {}, name = 'pistol', ammo: readonly (readonly [number, number, number])[] =
  [[200, 10, 50], [50, 4, 0], [50, 1, 0], [300, 20, 0]],
): Uint8Array {
  return messageOf(ServerBody.WeaponKinds, (builder) => {
    const create = Weapon.createWeapon as (builder: Builder, name: number, ...numbers: number[]) => number;
    const weapon = create(builder, builder.createString(name), ...Object.values({ ...usualWeapon, ...changed }));
    const weapons = WeaponKinds.createWeaponsVector(builder, [weapon]);
    WeaponKinds.startAmmoVector(builder, ammo.length);
    for (const limits of [...ammo].reverse()) AmmoLimits.createAmmoLimits(builder, ...limits);
    return WeaponKinds.createWeaponKinds(builder, weapons, builder.endVector(), 1);
  });
}

export function writeCarried(
  { held = 1, wanted = 1, firing = 0, backpack = 0, picked = 0, spent = 0 } = {},
): Uint8Array {
  return messageOf(ServerBody.Carried, (builder) => {
    const pickedAt = Carried.createPickedVector(builder, new Uint8Array(picked));
    const spentAt = Carried.createSpentVector(builder, new Uint8Array(spent));
    Carried.startCarried(builder);
    Carried.addTick(builder, 70);
    Carried.addWorld(builder, 1);
    const numbers = new Array<number>(13).fill(3);
    const create = Arsenal.createArsenal as (builder: Builder, weapons: number, ...numbers: number[]) => number;
    Carried.addArsenal(builder, create(builder, 3, ...numbers.slice(0, 13), held, wanted, firing, backpack, 0, 0));
    Carried.addPicked(builder, pickedAt);
    Carried.addSpent(builder, spentAt);
    return Carried.endCarried(builder);
  });
}

export function writeEdits(
  changes: readonly (readonly [index: number, block: number])[], chunk: readonly [number, number, number] = [1, -2, 3],
): Uint8Array {
  return messageOf(ServerBody.BlockEdits, (builder) => {
    BlockEdits.startChangesVector(builder, changes.length);
    for (const [index, block] of [...changes].reverse()) BlockChange.createBlockChange(builder, index, block);
    return BlockEdits.createBlockEdits(builder, 70, ...chunk, builder.endVector(), 1);
  });
}

export function writeScore(name: string | undefined, { changes = false, gone = [] as number[], world = 1 } = {}): Uint8Array {
  return messageOf(ServerBody.Score, (builder) => {
    const nameAt = name === undefined ? 0 : builder.createString(name);
    const rows = Score.createRowsVector(builder, [ScoreRow.createScoreRow(builder, 9, nameAt, 5, 4, 3, 1)]);
    const teams = Score.createTeamsVector(builder, [1, 2, 3, 4]);
    const goneAt = Score.createGoneVector(builder, gone);
    return Score.createScore(builder, 70, world, 3, 2, 9, teams, rows, changes, goneAt);
  });
}
