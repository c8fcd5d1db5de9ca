// Which maps and props of a welcome are held, and which are lacking.

import { mapsMax, propsMax, type Welcome } from './welcome';

/** Something that a welcome names. */
export interface NamedContent {
  kind: 'map' | 'prop';
  name: string;
  hash: bigint;
}

export function contentOf({ maps, props }: Welcome): NamedContent[] {
  return [
    ...maps.map(({ name, contentHash: hash }): NamedContent => ({ kind: 'map', name, hash })),
    ...props.map(({ name, contentHash: hash }): NamedContent => ({ kind: 'prop', name, hash })),
  ];
}

/** A world's, and as many of those before. */
export const heldMax = 2 * (mapsMax + propsMax);

/** What the game has, and what was fetched for it: of that the hashes of those that were asked for last. */
export class HeldContent {
  private readonly fetched = new Set<bigint>();  // whose use is longest ago first

  constructor(private readonly holds: (hash: bigint) => boolean = () => false) {}

  add(hash: bigint): void {
    this.fetched.delete(hash);
    this.fetched.add(hash);
    for (const oldest of this.fetched) {
      if (this.fetched.size <= heldMax) return;
      this.fetched.delete(oldest);
    }
  }

  has(hash: bigint): boolean {
    if (!this.fetched.has(hash)) return this.holds(hash);
    this.add(hash);
    return true;
  }

  /** Hashes of all that the client has of a welcome, each once. */
  heldOf(welcome: Welcome): bigint[] {
    return [...new Set(contentOf(welcome).map(({ hash }) => hash))].filter((hash) => this.has(hash));
  }
  lackingOf(welcome: Welcome): NamedContent[] {
    return contentOf(welcome).filter(({ hash }) => !this.has(hash));
  }
}
