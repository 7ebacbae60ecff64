/** Seeded random numbers and permutations for shuffling. */

/** Numbers in [0, 1), determined by the seed and the round. */
export function uniform(seed: number, round: number): () => number {
  let state =
    (Math.imul(seed ^ (seed / 2 ** 32), 0x9e3779b1) + Math.imul(round + 1, 0x85ebca6b)) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A permutation of 0 … count-1, determined by the seed and the round. */
export function permutation(count: number, seed: number, round: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, at) => at);
  const random = uniform(seed, round);
  for (let last = count - 1; last > 0; --last) {
    const chosen = Math.floor(random() * (last + 1));
    const swapped = order[last]!;
    order[last] = order[chosen]!;
    order[chosen] = swapped;
  }
  return order;
}

/** A seed derived from a string. */
export function seedOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** The default seed. */
export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 32);
}
