/** Seeded random numbers and permutations for shuffling. */

/** Numbers of [0, 1) that only the seed and the round decide. */
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

/** The numbers 0 … count-1 in an order that only the seed and the round decide. */
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

/** A seed that a text decides. */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** A seed for those who give none. */
export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 32);
}
