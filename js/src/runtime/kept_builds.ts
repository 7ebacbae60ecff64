/** Builds of one owner that are not at work, by what they were asked for: those not used for longest go first. */
import { offer, type Spares, withdraw } from './spares.js';

/** What can be kept: a build, or what holds one. */
export interface Keepable {
  /** Of code and memory. */
  readonly bytes: number;
  dispose(): void;
}

/** What one owner keeps beside the build at work: bytes, and memories, of which a page has few. */
export interface Room {
  bytes: number;
  builds: number;
}

/** For those that change between a few batch sizes. */
export const usualRoom: Room = { bytes: 64 * 2 ** 20, builds: 4 };
/** For those that are made anew for every size of their inputs. */
export const roomForSizes: Room = { ...usualRoom, builds: 16 };
/** For those of which each may hold the weights of a network for pictures. */
export const roomForWeights: Room = { ...roomForSizes, bytes: 2 * usualRoom.bytes };

export class KeptBuilds<Build extends Keepable> implements Spares {
  readonly #kept = new Map<string, { build: Build; bytes: number }>();
  readonly #self = new WeakRef<Spares>(this);
  #bytes = 0;

  constructor(private readonly room: Room = usualRoom) {}

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  /** Gives the build away; nothing where there is none. */
  take(key: string): Build | undefined {
    const found = this.#kept.get(key);
    if (found !== undefined) this.#drop(key, found.bytes);
    return found?.build;
  }

  /** Takes over the build, and disposes of what there is no room for. */
  keep(key: string, build: Build): void {
    const { bytes } = build;
    this.#kept.set(key, { build, bytes });
    this.#bytes += bytes;
    offer(this.#self);
    for (const [oldest, each] of this.#kept) {
      if (this.#bytes <= this.room.bytes && this.#kept.size <= this.room.builds) return;
      this.#drop(oldest, each.bytes);
      each.build.dispose();
    }
  }

  free(): void {
    for (const [key, { build, bytes }] of this.#kept) {
      this.#drop(key, bytes);
      build.dispose();
    }
  }

  #drop(key: string, bytes: number): void {
    this.#kept.delete(key);
    this.#bytes -= bytes;
    if (this.#kept.size === 0) withdraw(this.#self);
  }
}
