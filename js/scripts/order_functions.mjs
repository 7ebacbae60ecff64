// Orders the functions of a WebAssembly module so that similar ones are close to each other: gzip finds repetitions only in the
// last 32 KiB. The order is encoded in names, by which wasm-opt sorts them.
import { constants, deflateRawSync } from 'node:zlib';
import { gzipped } from './gzipped.mjs';

const CUSTOM = 0;
const CODE = 10;
const FUNCTION_NAMES = 1;
const HEADER_BYTES = 8;

// Length in bytes of the runs by which similarity is measured.
const RUN = 6;
// Window of gzip, minus its overhead. The best combination of window and slack differs between modules.
const WINDOWS = [28_000, 32_000];
const SLACKS = [1, 8, 12, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40];
// Number of similar candidates of which the one that gzip compresses best after the others is chosen. Slower.
const CHOICES = [4, 6, 8];
const SLACKS_OF_CHOICES = [24, 26, 28, 30];
const SEEN = 32_768;

/** The module with its name section replaced by names that sort its functions. It must not import functions. */
export function namedByResemblance(module) {
  const retained = [module.subarray(0, HEADER_BYTES)];
  let bodies = [];
  for (const { id, start, content, end } of sections(module)) {
    if (id === CODE) bodies = bodiesIn(module, content);
    if (id !== CUSTOM) retained.push(module.subarray(start, end));
  }
  const names = new Array(bodies.length);
  bestOrder(bodies).forEach((index, position) => {
    names[index] = String(position).padStart(6, '0');
  });
  return Buffer.concat([...retained, nameSection(names)]);
}

/** The order that compresses best of those found with more and less weight on short functions. */
function bestOrder(bodies) {
  const shared = sharedRuns(bodies);
  let best;
  let least = Infinity;
  const look = (window, slack, choices) => {
    const order = orderOf(bodies, shared, { window, slack, choices });
    const size = gzipped(Buffer.concat(order.map((index) => bodies[index])));
    if (size < least) [best, least] = [order, size];
  };
  for (const window of WINDOWS) for (const slack of SLACKS) look(window, slack, 1);
  for (const choices of CHOICES) for (const slack of SLACKS_OF_CHOICES) look(SEEN, slack, choices);
  return best;
}

/** Greedy: each function is followed by one with the largest share of its runs (length + slack) in the window. */
function orderOf(bodies, { runs, users }, { window, slack, choices }) {
  const inWindow = new Int32Array(users.length);
  const sharedRunCount = new Int32Array(bodies.length);
  const left = new Set(bodies.keys());
  const order = [];
  let oldest = 0;
  let bytes = 0;
  let seen = Buffer.alloc(0);
  const count = (index, step) => {
    bytes += step * bodies[index].length;
    for (const run of runs[index]) {
      inWindow[run] += step;
      if (inWindow[run] === (step > 0 ? 1 : 0))
        for (const user of users[run]) sharedRunCount[user] += step;
    }
  };
  for (let next = 0; left.size > 0;) {
    left.delete(next);
    order.push(next);
    count(next, 1);
    while (bytes > window && oldest < order.length - 1) count(order[oldest++], -1);
    const found = bestMatches(left, sharedRunCount, runs, slack, choices);
    if (choices > 1) seen = Buffer.concat([seen, bodies[next]]).subarray(-SEEN);
    next = found.length > 1 ? packedBest(bodies, found, seen) : found[0];
  }
  return order;
}

/** The candidates by descending share. */
function bestMatches(left, sharedRunCount, runs, slack, choices) {
  const found = [];
  for (const index of left) {
    const share = sharedRunCount[index] / (runs[index].length + slack);
    if (found.length === choices && share <= found.at(-1).share) continue;
    const position = found.findIndex((each) => each.share < share);
    found.splice(position < 0 ? found.length : position, 0, { index, share });
    if (found.length > choices) found.pop();
  }
  return found.map(({ index }) => index);
}

function packedBest(bodies, indices, dictionary) {
  const options = { dictionary, level: 9, strategy: constants.Z_FIXED };
  const shares = indices.map((index) => {
    const { length } = bodies[index];
    // The estimate is less reliable for short functions.
    return (deflateRawSync(bodies[index], options).length + 4) / (length + 4);
  });
  return indices[shares.indexOf(Math.min(...shares))];
}

/** For each function the ids of byte runs shared with others; for each run the functions that contain it. */
function sharedRuns(bodies) {
  const found = new Map();
  bodies.forEach((body, index) => {
    for (let at = 0; at + RUN <= body.length; at++) {
      const run = body.readUIntLE(at, RUN);
      const users = found.get(run);
      if (users === undefined) found.set(run, [index]);
      else if (users.at(-1) !== index) users.push(index);
    }
  });
  const users = [...found.values()].filter((each) => each.length > 1);
  const runs = bodies.map(() => []);
  users.forEach((each, run) => {
    for (const index of each) runs[index].push(run);
  });
  return { runs, users };
}

function* sections(module) {
  for (let at = HEADER_BYTES; at < module.length;) {
    const [size, content] = readLeb(module, at + 1);
    const end = content + size;
    yield { id: module[at], start: at, content, end };
    at = end;
  }
}

function bodiesIn(module, content) {
  let [count, at] = readLeb(module, content);
  const bodies = [];
  for (; count > 0; count--) {
    const [size, start] = readLeb(module, at);
    at = start + size;
    bodies.push(module.subarray(start, at));
  }
  return bodies;
}

function nameSection(names) {
  const entries = names.flatMap((name, index) => [...leb(index), ...sized(Buffer.from(name))]);
  const functions = [FUNCTION_NAMES, ...sized([...leb(names.length), ...entries])];
  return Buffer.from([CUSTOM, ...sized([...sized(Buffer.from('name')), ...functions])]);
}

function sized(bytes) {
  return [...leb(bytes.length), ...bytes];
}

function leb(value) {
  const bytes = [];
  for (; value >= 128; value >>>= 7) bytes.push((value & 127) | 128);
  return [...bytes, value];
}

function readLeb(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value |= (byte & 127) << shift;
    if (byte < 128) return [value, at];
  }
}
