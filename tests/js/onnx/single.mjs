// A model of one operator, and its feeds.
import { model, node, random, tensor, value } from './write.mjs';

/** [name, bytes, feeds]: an operator over these operands; null: an absent one. `outputs` are dtypes, null: omitted. */
export function single(
  name,
  op,
  operands,
  outputs,
  attributes,
  { domain = '', opset = 21, fixed = [] } = {},
) {
  const names = operands.map((each, at) => (each === null ? '' : `x${at}`));
  const feedsAndWeights = operands.flatMap((each, at) =>
    each === null ? [] : [[names[at], each]],
  );
  const isFixed = ([each]) => fixed.includes(Number(each.slice(1)));
  const feeds = Object.fromEntries(feedsAndWeights.filter((each) => !isFixed(each)));
  const results = outputs.map((dtype, at) => (dtype === null ? '' : `y${at}`));
  const bytes = model({
    opset,
    opsets: domain === '' ? {} : { [domain]: domain === 'ai.onnx.ml' ? 3 : 1 },
    nodes: [node(op, names, results, attributes, { domain })],
    inputs: Object.entries(feeds).map(([each, { dtype, shape }]) => value(each, dtype, shape)),
    outputs: outputs.flatMap((dtype, at) => (dtype === null ? [] : [value(`y${at}`, dtype)])),
    initializers: Object.fromEntries(feedsAndWeights.filter(isFixed)),
  });
  return [name, bytes, feeds];
}

let seed = 1;
/** Random numbers, different in each call. */
export const normal = (...shape) => random(seed++, shape);
export const small = (...shape) => random(seed++, shape, 0.1);
export const int32 = (data, shape) => tensor('int32', data, shape);
export const int64 = (data, shape) => tensor('int64', data, shape);
