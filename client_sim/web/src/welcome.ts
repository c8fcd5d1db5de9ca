// What a world is made of, from bytes to checked values (WIRE.md, Messages and A session).

import { Encoding } from 'flatbuffers';

import type { Welcome as WireWelcome } from '../generated/ashlar/wire/welcome';
import { check, present } from './bytes';
import { readRules, type Rules } from './rules';
import { isChunk, isInWorld, lifeTicksMax, worldBlocks, worldBlocksUp, worldTicksMax } from './snapshot';
import { shown } from './text';

const raw = Encoding.UTF8_BYTES;
export const mapsMax = 10;
export const propsMax = 256;
const monsterKindsMax = 64;
const zonesMax = 64;
const columnChunksMax = 64;
// What single precision makes of the least.
const scaleMin = Math.fround(0.001);

/** A map of a world: a client that holds it says so by its hash. */
export interface WelcomeMap {
  name: string;
  contentHash: bigint;
  /** Block of the lower corner, and the height of the roof. */
  origin: [number, number];
  surfaceZ: number;
  /** 1: doors stand open, 2: a doorway with stairs is cut to the surface. */
  flags: number;
}

export interface WelcomeProp {
  name: string;
  contentHash: bigint;
  positionM: [number, number, number];
  scale: number;
  yaw: number;
  zUp: boolean;
}

/** How large a kind of monster is that is not as usual. */
export interface KindBody {
  kind: number;
  radiusM: number;
  heightM: number;
}

/** Blocks from low to high, high not included, that no player changes. */
export interface Zone {
  name: string;
  low: [number, number, number];
  high: [number, number, number];
}

export interface Welcome {
  resetToken: Uint8Array;
  resumed: boolean;
  world: number;
  seed: bigint;
  tick: number;
  snapshotEveryTicks: number;
  rules: Rules;
  /** Some of the rules. */
  tickRateHz: number;
  walkSpeedMps: number;
  playerHeightM: number;
  playerEyeM: number;
  maps: WelcomeMap[];
  props: WelcomeProp[];
  motd: string;
  terrain: number;
  generator: number;
  /** By ascending kind. */
  kindBodies: KindBody[];
  zones: Zone[];
  /** Ticks that the world was played before: its day and its blocks' timers count on from there. */
  ageTicks: bigint;
}

function readMap(wire: WireWelcome, index: number): WelcomeMap {
  const map = present(wire.maps(index), 'a map');
  const origin: [number, number] = [map.originX(), map.originY()];
  const placed = origin.every((at) => Math.abs(at) <= worldBlocks) && Math.abs(map.surfaceZ()) <= worldBlocksUp;
  check(placed, 'the place of a map');
  return {
    name: shown(map.name(raw), 1, 16, 'the name of a map'), contentHash: map.contentHash(), origin,
    surfaceZ: map.surfaceZ(), flags: map.flags(),
  };
}

function readProp(wire: WireWelcome, names: string[], index: number): WelcomeProp {
  const prop = present(wire.props(index), 'a prop');
  check(prop.name() < names.length && prop.flags() <= 1, 'a prop');
  const positionM: [number, number, number] = [prop.x(), prop.y(), prop.z()];
  check(isInWorld(positionM), 'the place of a prop');
  check(prop.scale() >= scaleMin && prop.scale() <= 1000, 'the scale of a prop');
  return {
    name: names[prop.name()], contentHash: prop.contentHash(), positionM, scale: prop.scale(), yaw: prop.yaw(),
    zUp: prop.flags() === 1,
  };
}

function readProps(wire: WireWelcome): WelcomeProp[] {
  check(wire.propsLength() <= propsMax && wire.propNamesLength() <= propsMax, 'the number of props');
  const names = Array.from({ length: wire.propNamesLength() }, (_, i) =>
    shown(wire.propNames(i, raw), 1, 48, 'the name of a prop'));
  return Array.from({ length: wire.propsLength() }, (_, i) => readProp(wire, names, i));
}

function readBodies(wire: WireWelcome): KindBody[] {
  check(wire.kindBodiesLength() <= monsterKindsMax, 'the number of bodies');
  let before = -1;
  return Array.from({ length: wire.kindBodiesLength() }, (_, i): KindBody => {
    const body = present(wire.kindBodies(i), 'a body');
    const [kind, radiusM, heightM] = [body.kind(), body.radius(), body.height()];
    check(kind > before && kind < monsterKindsMax, 'the kind of a body');
    const large = radiusM >= Math.fround(0.05) && radiusM <= 4.5 && heightM >= Math.fround(0.1) && heightM <= 8;
    check(large, 'the size of a body');
    before = kind;
    return { kind, radiusM, heightM };
  });
}

function readZones(wire: WireWelcome): Zone[] {
  if (wire.zonesLength() === 0) return [];
  check(wire.zonesLength() <= zonesMax && wire.zoneNamesLength() === wire.zonesLength(), 'the number of zones');
  return Array.from({ length: wire.zonesLength() }, (_, i): Zone => {
    const zone = present(wire.zones(i), 'a zone');
    const low: Zone['low'] = [zone.lowX(), zone.lowY(), zone.lowZ()];
    const high: Zone['high'] = [zone.highX(), zone.highY(), zone.highZ()];
    const bound = [worldBlocks, worldBlocks, worldBlocksUp];
    const good = bound.every((most, axis) => low[axis] < high[axis] && low[axis] >= -most && high[axis] <= most);
    check(good, 'a zone');
    return { name: shown(wire.zoneNames(i, raw), 0, 32, 'the name of a zone'), low, high };
  });
}

/** Which chunks of a column there may be: checked, and left to who draws the ground. */
function checkColumns(low: number, high: number): void {
  const inWorld = isChunk([0, 0, low]) && isChunk([0, 0, high - 1]);
  check(inWorld && high >= low && high - low <= columnChunksMax, 'the columns');
}

/** Throws a WireError for what is none. */
export function readWelcome(wire: WireWelcome): Welcome {
  const token = wire.resetTokenArray();
  check(token?.length === 16, 'the reset token');
  const rules = readRules(present(wire.rules(), 'the rules of a welcome'));
  const { tickRateHz, walkSpeedMpsMax: walkSpeedMps, playerHeightM, playerEyeM } = rules;
  check(wire.snapshotEveryTicks() >= 1 && wire.snapshotEveryTicks() <= tickRateHz, 'the rate of snapshots');
  check(wire.mapsLength() <= mapsMax, 'the number of maps');
  check(wire.ageTicks() <= lifeTicksMax, 'the age of the world');
  check(wire.tick() <= worldTicksMax, 'the tick of a welcome');
  checkColumns(wire.columnsLow(), wire.columnsHigh());
  return {
    resetToken: token!.slice(), resumed: wire.resumed(), world: wire.world(), seed: wire.seed(), tick: wire.tick(),
    snapshotEveryTicks: wire.snapshotEveryTicks(), rules, tickRateHz, walkSpeedMps, playerHeightM, playerEyeM,
    maps: Array.from({ length: wire.mapsLength() }, (_, i) => readMap(wire, i)),
    props: readProps(wire),
    motd: shown(wire.motd(raw), 0, 160, 'the message of the day'),
    terrain: wire.terrain(), generator: wire.generator(), kindBodies: readBodies(wire), zones: readZones(wire),
    ageTicks: wire.ageTicks(),
  };
}
