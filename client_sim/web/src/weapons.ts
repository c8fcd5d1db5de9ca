// The weapons of a world, as far as this client shows them (WIRE.md, Messages; world/sim/weapons.h).

import { Encoding } from 'flatbuffers';

import type { Weapon } from '../generated/ashlar/wire/weapon';
import type { WeaponKinds } from '../generated/ashlar/wire/weapon-kinds';
import { check, present } from './bytes';
import { shown } from './text';

export const weaponsMax = 24;
const formCount = 5;
const ammoKinds = 4;
const ammoMax = 30000;
const nameBytesMax = 32;

/** Least and most of a weapon's numbers. */
const bounds = {
  slot: [1, 10], rank: [0, 255], start: [0, 1], count: [1, 32], steady: [0, 1], uses: [0, 1000], damageStep: [0, 10000],
  damageSides: [1, 100], strengthTimes: [1, 100], spreadDeg: [0, 90], riseDeg: [0, 90], rangeM: [0, 1024],
  windupS: [0, 60], intervalS: [0, 60], lowerS: [0, 60], raiseS: [0, 60], clip: [0, 255], reloadS: [0, 60],
  chargeS: [0, 60], throwLeast: [0, 1], fuseS: [0, 60],
} as const satisfies Partial<Record<keyof Weapon, readonly [number, number]>>;

function readWeapon(weapon: Weapon): string {
  check(weapon.form() < formCount && weapon.ammo() <= ammoKinds, 'the form of a weapon');
  for (const [name, [least, most]] of Object.entries(bounds)) {
    const value = weapon[name as keyof typeof bounds]();
    check(value >= least && value <= most, `${name} of a weapon`);
  }
  return shown(weapon.name(Encoding.UTF8_BYTES), 1, nameBytesMax, 'the name of a weapon');
}

/** Their names, by their numbers. Throws a WireError where one of them is none. */
export function readWeaponNames(wire: WeaponKinds): string[] {
  check(wire.weaponsLength() >= 1 && wire.weaponsLength() <= weaponsMax, 'the weapons');
  check(wire.ammoLength() === ammoKinds, 'the kinds of ammunition');
  for (let i = 0; i < ammoKinds; ++i) {
    const limits = present(wire.ammo(i), 'a kind of ammunition');
    check(Math.max(limits.most(), limits.clip(), limits.start()) <= ammoMax, 'a kind of ammunition');
  }
  return Array.from({ length: wire.weaponsLength() }, (_, i) => readWeapon(present(wire.weapons(i), 'a weapon')));
}
