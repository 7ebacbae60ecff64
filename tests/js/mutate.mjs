// Deterministic mutations of bytes, for parsers that must answer anything with a result or a clear error.

/** `count` damaged copies: bytes changed, cut out, doubled, cut off, numbers made large. */
export function* mutations(bytes, count, seed = 1) {
  let state = seed;
  const random = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const interesting = [0, 0xff, 0x7f, 0x80, ...Buffer.from('"{}[],:-9e0\\\n')];
  for (let each = 0; each < count; ++each) {
    let copy = Uint8Array.from(bytes);
    for (let times = random(3); times >= 0; --times) {
      const at = random(copy.length);
      const to = Math.min(copy.length, at + 1 + random(16));
      const kind = random(5);
      if (kind === 0) copy[at] = random(256);
      if (kind === 1) copy[at] = interesting[random(interesting.length)];
      if (kind === 2) copy = Uint8Array.of(...copy.subarray(0, at), ...copy.subarray(to));
      if (kind === 3) copy = Uint8Array.of(...copy.subarray(0, to), ...copy.subarray(at));
      if (kind === 4) copy = copy.slice(0, at);
      if (copy.length === 0) copy = Uint8Array.of(0);
    }
    yield copy;
  }
}
