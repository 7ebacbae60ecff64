// Source of a module that runs graph models of a few nodes, one after the other, and reports how each ended.

/** `run(name, nodes, consts, output, library)` in the module; `consts` are { name: [dtype, shape, values] }. */
export const graphs = `
import { loadGraphModel, ready } from 'tensorlathe/tfjs';
await ready();
const node = (name, op, input = [], attr = {}) => ({ name, op, input, attr });
const types = { float32: 'DT_FLOAT', int32: 'DT_INT32', bool: 'DT_BOOL', string: 'DT_STRING' };
const arrays = { float32: Float32Array, int32: Int32Array, bool: Uint8Array };
const bytesOf = ([dtype, , values]) => {
  if (dtype !== 'string') return Buffer.from(arrays[dtype].from(values).buffer);
  return Buffer.concat(values.map((each) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(Buffer.byteLength(each));
    return Buffer.concat([length, Buffer.from(each)]);
  }));
};
const artifactsOf = (nodes, consts, library) => {
  const all = Object.entries(consts);
  const made = all.map(([name, [dtype]]) => node(name, 'Const', [], { dtype: { type: types[dtype] } }));
  return {
    format: 'graph-model',
    modelTopology: { node: [...made, ...nodes], library, versions: {} },
    weightSpecs: all.map(([name, [dtype, shape]]) => ({ name, shape, dtype })),
    weightData: new Uint8Array(Buffer.concat(all.map(([, each]) => bytesOf(each)))).buffer,
  };
};
const run = async (name, nodes, consts, output = 'y', library = undefined) => {
  const from = performance.now();
  const ended = { name };
  try {
    const model = await loadGraphModel({ load: async () => artifactsOf(nodes, consts, library) });
    const found = [await model.executeAsync({}, output)].flat()[0];
    await found.data();
    ended.shape = found.shape;
    found.dispose();
  } catch (error) {
    ended.kind = error.name;
    ended.error = error.message;
  }
  ended.seconds = (performance.now() - from) / 1000;
  ended.gigabytes = process.resourceUsage().maxRSS / 2 ** 20;
  console.log(JSON.stringify(ended));
};
console.warn = () => {};
const ints = (...values) => ['int32', [values.length], values];
const int = (value) => ['int32', [], [value]];
const floats = (...values) => ['float32', [values.length], values];
const float = (value) => ['float32', [], [value]];
const texts = (...values) => ['string', [values.length], values];
const N = { type: 'DT_INT32' };
const F = { type: 'DT_FLOAT' };
`;

/** The parsed lines of the output. */
export const endsIn = (output) =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
