// Engines that run ONNX models in the tests, with one interface: load(bytes) returns { run({ name: value }), dispose() }. A value is
// { dtype, shape, data }, a sequence an array, an empty optional null.
import { packed, unpacked } from './read_tensor.mjs';

/** This package: `tl` is the module. `placed` is called with the placement of each model at its end. */
export const lathe =
  (tl, options = {}, placed) =>
  async (bytes) => {
    const model = await tl.loadModel(bytes, options);
    const typeOf = (ports, name) =>
      ports.find((port) => port.name === name)?.type ?? { kind: 'unknown' };
    return {
      run: async (feeds) => {
        const inputs = mapValues(feeds, (value) => toLathe(tl, value));
        const results = await model.run(inputs);
        await Promise.all(Object.values(results).map(read));
        return mapValues(results, (value, name) => fromLathe(value, typeOf(model.outputs, name)));
      },
      dispose: () => {
        placed?.(model.placement);
        model.dispose();
      },
    };
  };

/** Reads tensors on a device. */
const read = (value) =>
  Array.isArray(value) ? Promise.all(value.map(read)) : (value?.data?.() ?? value);

/** The dtype of the typed array that stores elements of a dtype without one. */
const storageDtype = (dtype) =>
  ({ uint4: 'uint8', uint2: 'uint8', int4: 'int8', int2: 'int8' })[dtype] ??
  (/^float[48]/.test(dtype) ? 'uint8' : dtype);

function toLathe(tl, value) {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((each) => toLathe(tl, each));
  const { dtype, shape, data } = value;
  return dtype === 'string' ? nested(data, shape) : tl.tensor(data, shape, storageDtype(dtype));
}

/** Strings as arrays in arrays. */
function nested(data, [size, ...rest]) {
  if (size === undefined) return data[0];
  const step = data.length / size;
  return Array.from({ length: size }, (_, at) =>
    nested(data.slice(at * step, (at + 1) * step), rest),
  );
}

function fromLathe(value, type) {
  if (value === null || value === undefined) return value;
  if (type.kind === 'optional') return fromLathe(value, type.element);
  if (type.kind === 'sequence') return value.map((each) => fromLathe(each, type.element));
  if (type.type !== 'string') {
    return { dtype: type.type, shape: [...value.shape], data: value.dataSync() };
  }
  const shape = [];
  for (let at = value; Array.isArray(at); at = at[0]) shape.push(at.length);
  return { dtype: 'string', shape, data: Array.isArray(value) ? value.flat(Infinity) : [value] };
}

/** ONNX Runtime Web, or what has its API. */
export const runtime = (ort) => async (bytes) => {
  const options = { executionProviders: ['wasm'], logSeverityLevel: 4 };
  const session = await ort.InferenceSession.create(bytes, options);
  return {
    run: async (feeds) => {
      const inputs = mapValues(feeds, (value) => toOrt(ort, value));
      return mapValues(await session.run(inputs), fromOrt);
    },
    dispose: () => session.release(),
  };
};

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));

function toOrt(ort, value) {
  if (value === null || Array.isArray(value)) return value && value.map((each) => toOrt(ort, each));
  return new ort.Tensor(value.dtype, packed(value.dtype, value.data), value.shape);
}

function fromOrt(value) {
  if (value === null || value === undefined) return value;
  if (Array.isArray(value)) return value.map(fromOrt);
  const { type, dims, data, size } = value;
  return { dtype: type, shape: [...dims], data: unpacked(type, data, size) };
}
