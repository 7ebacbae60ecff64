// Whether a model passes an ONNX backend case. Runs in Node and in pages.
import { difference } from './compare.mjs';
import { readModel, readValue } from './read_tensor.mjs';

/** Operators with random results, of which only type and shape are compared, except where the model has a seed and data. */
const drawn = /Random|Bernoulli|Multinomial/;
const isDrawn = (name, operators) =>
  name.startsWith('test_training_dropout') || operators.some((operator) => drawn.test(operator));

/** Sums that cancel: what is zero but for rounding is off by the rounding of both sides. */
const cancelling = { DFT: { atol: 1e-6 } };
const toleranceOf = (operators) => Object.assign({}, ...operators.map((each) => cancelling[each]));

/** Ones for each input: the feeds of light models. */
function ones({ inputs }) {
  return Object.fromEntries(
    inputs.map(({ name, dtype, shape }) => {
      const count = shape.reduce((product, size) => product * size, 1);
      return [name, { dtype, shape, data: new Float32Array(count).fill(1) }];
    }),
  );
}

/** Runs a case with an engine (engines.mjs); returns why it fails, or undefined. The files are as cases.mjs reads them. */
export async function whyFails(load, each, { bytes, sets }) {
  const ports = readModel(bytes);
  const model = await load(bytes);
  try {
    if (sets.length === 0) {
      await (model.compile ?? model.run)(ones(each));
      return undefined;
    }
    for (const { inputs, outputs } of sets) {
      const feeds = inputs.map((file, at) => {
        const { name, kind } = ports.inputs[at];
        return [name, readValue(file, kind)];
      });
      const results = await model.run(Object.fromEntries(feeds));
      for (const [at, file] of outputs.entries()) {
        const { name, kind } = ports.outputs[at];
        const how = {
          random: isDrawn(each.name, ports.operators),
          ...toleranceOf(ports.operators),
        };
        const why = difference(readValue(file, kind), results[name], how);
        if (why !== undefined) return `${name}: ${why}`;
      }
    }
    return undefined;
  } finally {
    await model.dispose();
  }
}
