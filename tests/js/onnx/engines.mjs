// What runs ONNX models in the tests, behind one interface: load(bytes) gives { run({ name: value }), dispose() }. A value is
// { dtype, shape, data }, a sequence an array, a none null.

/** This package: `tl` is the module. */
export const lathe = (tl) => async (bytes) => {
  const model = await tl.loadModel(bytes);
  return {
    run: async (feeds) => {
      const given = mapValues(feeds, (value) => toTensor(tl, value));
      return mapValues(await model.run(given), plain);
    },
    dispose: () => model.dispose(),
  };
};

/** ONNX Runtime Web, or what has its API. */
export const runtime = (ort) => async (bytes) => {
  const options = { executionProviders: ['wasm'], logSeverityLevel: 4 };
  const session = await ort.InferenceSession.create(bytes, options);
  return {
    run: async (feeds) => {
      const given = mapValues(feeds, (value) => toOrt(ort, value));
      return mapValues(await session.run(given), plain);
    },
    dispose: () => session.release(),
  };
};

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));

function toTensor(tl, value) {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((each) => toTensor(tl, each));
  const { dtype, shape, data } = value;
  return tl.tensor(data, shape, dtype);
}

function toOrt(ort, value) {
  if (value === null || Array.isArray(value)) return value && value.map((each) => toOrt(ort, each));
  return new ort.Tensor(value.dtype, value.data, value.shape);
}

/** Tensors of both kinds. */
function plain(value) {
  if (value === null || value === undefined) return value;
  if (Array.isArray(value)) return value.map(plain);
  const { dtype = value.type, shape = value.dims } = value;
  const data = value.dims !== undefined ? value.data : value.dataSync();
  return { dtype, shape: [...shape], data };
}
