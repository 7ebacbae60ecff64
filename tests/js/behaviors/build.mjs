// Helpers of the themes: programs that differ, deterministic data, models of one layer.

const reasons = new WeakMap();

/** Marks programs whose behavior differs here, with the reason. */
export function differs(reason, ...programs) {
  for (const program of programs.flat(Infinity)) reasons.set(program, reason);
  return programs;
}

/** The reason why a program differs, or undefined. */
export const reasonOf = (program) => reasons.get(program);

/** The same program for each of a list of values, its argument after `tf`. */
export function each(list, make) {
  return list.map((value) => {
    const program = (tf) => make(tf, structuredClone(value));
    program.toString = () => `${make} with ${JSON.stringify(value)}`;
    return program;
  });
}

/** A tensor of numbers between `least` - 1 and `least` + 1. */
export function numbers(tf, shape, seed = 1, least = 0) {
  const size = shape.reduce((product, each) => product * each, 1);
  const values = Array.from({ length: size }, (_, at) => least + Math.sin(12.9898 * (at + seed)));
  return tf.tensor(values, shape);
}

/** A tensor of 0 … max - 1. */
export function counts(tf, shape, max = 5) {
  const size = shape.reduce((product, each) => product * each, 1);
  return tf.tensor(
    Array.from({ length: size }, (_, at) => (7 * at + 3) % max),
    shape,
  );
}

/** Sets all weights to deterministic numbers. */
export function fill(tf, model) {
  model.setWeights(model.getWeights().map(({ shape }, at) => numbers(tf, shape, at + 1, 1.01)));
  return model;
}

/** Layers in a row. */
export const row = (tf, ...layers) => tf.sequential({ layers });

/** The output of a layer for data of this shape, batch first, with deterministic weights. */
export function run(tf, layer, shape, x = numbers(tf, shape)) {
  const input = tf.input({ shape: shape.slice(1) });
  return fill(tf, tf.model({ inputs: input, outputs: layer.apply(input) })).predict(x);
}

/** The same for a layer of several inputs. */
export function runAll(tf, layer, ...shapes) {
  const inputs = shapes.map((shape) => tf.input({ shape: shape.slice(1) }));
  const model = fill(tf, tf.model({ inputs, outputs: layer.apply(inputs) }));
  return model.predict(shapes.map((shape, at) => numbers(tf, shape, at + 1)));
}

/** The output shape of a layer. */
export const shape = (tf, layer, dims) => layer.apply(tf.input({ shape: dims })).shape;

/** A graph of two inputs, of which a shared layer is called with either. */
export function graph(tf) {
  const [a, b] = ['a', 'b'].map((name) => tf.input({ shape: [3], name }));
  const shared = tf.layers.dense({ units: 2, name: 'shared' });
  const sum = tf.layers.add({ name: 'sum' }).apply([shared.apply(a), shared.apply(b)]);
  return tf.model({
    inputs: [a, b],
    outputs: [sum, tf.layers.reLU({ name: 'flat' }).apply(sum)],
    name: 'graph',
  });
}

/** The artifacts that saving a model produces. */
export async function artifactsOf(tf, model, config) {
  let artifacts;
  const modelArtifactsInfo = { dateSaved: new Date() };
  const handler = tf.io.withSaveHandler(
    async (saved) => ((artifacts = saved), { modelArtifactsInfo }),
  );
  await model.save(handler, config);
  return artifacts;
}
