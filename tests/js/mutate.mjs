// Deterministic mutations of bytes and of JSON, for parsers that must answer anything with a result or a clear error.

/** A function that returns integers from 0 to below its argument. */
function randomIntegers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** `count` damaged copies: bytes changed, removed, duplicated, truncated, numbers made large. */
export function* mutations(bytes, count, seed = 1) {
  const random = randomIntegers(seed);
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

/** Values that no member of a JSON value expects, also names of inherited members of objects. */
const oddValues = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    0.5,
    7,
    2 ** 31,
    2 ** 53,
    1e308,
    '',
    'x',
    'NaN',
    '../x',
    '%2e%2e/x',
  ],
  ...['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '\u0000', '\ud800'],
  ...[
    [],
    [[]],
    [null],
    ['constructor'],
    {},
    { class_name: '__proto__', config: {} },
    { name: 'x' },
  ],
  JSON.parse('{"__proto__": {"class_name": "Dense"}, "constructor": null}'),
];
const oddKeys = [
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  '',
  'x',
  'name',
  'dtype',
];

/** `count` copies of a JSON value: members replaced, removed, duplicated, renamed or added. */
export function* jsonMutations(value, count, seed = 1) {
  const random = randomIntegers(seed);
  const oneOf = (list) => structuredClone(list[random(list.length)]);
  for (let each = 0; each < count; ++each) {
    const copy = { value: structuredClone(value) };
    for (let times = random(3); times >= 0; --times) mutate(copy, random, oneOf);
    yield copy.value;
  }
}

/** Changes one member anywhere below `root`. */
function mutate(root, random, oneOf) {
  const members = [];
  const visit = (parent) => {
    for (const key of Object.keys(parent)) {
      members.push([parent, key]);
      if (typeof parent[key] === 'object' && parent[key] !== null) visit(parent[key]);
    }
  };
  visit(root);
  const [parent, key] = members[random(members.length)];
  const put = (name, value) =>
    Object.defineProperty(parent, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  const kind = random(5);
  if (kind <= 1) put(key, oneOf(oddValues));
  else if (Array.isArray(parent)) {
    if (kind === 2) parent.splice(Number(key), 1);
    if (kind === 3) parent.push(structuredClone(parent[key]));
    if (kind === 4) parent.splice(Number(key), 0, oneOf(oddValues));
  } else if (parent !== root) {
    const name = oneOf(oddKeys);
    put(name, kind === 4 ? oneOf(oddValues) : structuredClone(parent[key]));
    if (kind === 2) delete parent[key];
  }
}
