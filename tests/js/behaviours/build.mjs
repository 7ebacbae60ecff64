// What the themes are written with: programs that differ, data that are always the same, models of one layer.

const reasons = new WeakMap();

/** Marks programs of which it is known, and why, that they do something else here. */
export function differs(reason, ...programs) {
  for (const program of programs.flat(Infinity)) reasons.set(program, reason);
  return programs;
}

/** What `differs` was told of a program. */
export const reasonOf = (program) => reasons.get(program);

/** The same program for each of a list of values, which it gets behind `tf`. */
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

/** A tensor of 0 … most - 1. */
export function counts(tf, shape, most = 5) {
  const size = shape.reduce((product, each) => product * each, 1);
  return tf.tensor(
    Array.from({ length: size }, (_, at) => (7 * at + 3) % most),
    shape,
  );
}

/** Gives all weights numbers that are always the same. */
export function fill(tf, model) {
  model.setWeights(model.getWeights().map(({ shape }, at) => numbers(tf, shape, at + 1, 1.01)));
  return model;
}

/** Layers in a row. */
export const row = (tf, ...layers) => tf.sequential({ layers });

/** What a layer gives for data of this shape, batch first, with weights that are always the same. */
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

/** The shape that a layer gives. */
export const shape = (tf, layer, given) => layer.apply(tf.input({ shape: given })).shape;

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

/** What saving a model hands on. */
export async function artifactsOf(tf, model, config) {
  let kept;
  const modelArtifactsInfo = { dateSaved: new Date() };
  const handler = tf.io.withSaveHandler(async (given) => ((kept = given), { modelArtifactsInfo }));
  await model.save(handler, config);
  return kept;
}
