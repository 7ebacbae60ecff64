// Decoders with other position encodings: positions, windows and biases that follow from sizes or from the
// mask, results of the last token only, axes without a name. One layer and one head, compared with ONNX Runtime.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as reference from 'onnxruntime-web';
import * as ours from 'tensorlathe/onnxruntime';
import { createSession, dataOf } from '../../onnx/decoder_device.mjs';
import { model, node, random, tensor, value } from '../../onnx/write.mjs';

reference.env.wasm.numThreads = 1;
const [width, vocabulary] = [16, 11];

/**
 * attention: by `GroupQueryAttention`, or `decomposed` into Concat and rotary positions; positions: nothing, or what they follow from:
 * sizes of the past or of the mask, or running sums of the mask.
 */
function decoder({ attention, last, logitsAxis = 'sequence', positions, alibi, window = 0 }) {
  const nodes = [];
  const initializers = {};
  const add = (op, inputs, attributes = {}) => {
    const output = `v${nodes.length}`;
    nodes.push(node(op, inputs, [output], attributes));
    return output;
  };
  const constant = (type, data, shape) => {
    const name = `c${Object.keys(initializers).length}`;
    initializers[name] = tensor(type, data, shape);
    return name;
  };
  const integers = (...values) => constant('int64', values, [values.length]);
  const float = (number) => constant('float32', [number], []);
  const weights = (seed, shape, deviation = 0.4) => {
    initializers[`w${seed}`] = random(seed, shape, deviation);
    return `w${seed}`;
  };
  const [zero, one] = [0, 1].map((each) => constant('int64', [each], []));
  const end = constant('int64', [2n ** 63n - 1n], [1]);
  const size = (x, axis) =>
    add('Squeeze', [add('Gather', [add('Shape', [x]), integers(axis)]), integers(0)]);
  const isGrouped = attention === 'grouped';
  const length = size('input_ids', 1);
  const total =
    isGrouped || positions === 'mask'
      ? size('attention_mask', 1)
      : add('Add', [size('past_key_values.0.key', 2), length]);
  const before = add('Sub', [total, length]);
  const range = add('Unsqueeze', [add('Range', [before, total, one]), integers(0)]);
  const sums = () => add('Sub', [add('CumSum', ['attention_mask', one]), integers(1)]);
  const from = () => add('Neg', [add('Unsqueeze', [length, integers(0)])]);
  const rows = positions === 'sums' ? add('Slice', [sums(), from(), end, integers(1)]) : range;
  let x = add('Gather', [weights(1, [vocabulary, width], 1), 'input_ids']);
  if (isGrouped && positions)
    x = add('Add', [x, add('Gather', [weights(9, [300, width], 1), rows])]);
  const product = (seed, deviation) => add('MatMul', [x, weights(seed, [width, width], deviation)]);
  const projections = [product(2, 0.2), product(3, 0.2), product(4)];
  const presents = ['present.0.key', 'present.0.value'];
  const attended = isGrouped ? grouped() : decomposed();

  function grouped() {
    const counts = add('ReduceSum', ['attention_mask', integers(1)], { keepdims: 0 });
    const lengths = add('Cast', [add('Sub', [counts, integers(1)])], { to: 6 });
    const pasts = ['past_key_values.0.key', 'past_key_values.0.value'];
    const inputs = [...projections, ...pasts, lengths, add('Cast', [total], { to: 6 })];
    const heads = { num_heads: 1, kv_num_heads: 1 };
    const domain = 'com.microsoft';
    nodes.push(node('GroupQueryAttention', inputs, ['y', ...presents], heads, { domain }));
    return 'y';
  }

  function rotated(e) {
    const table = (f) => {
      const angle = (i) => Math.floor(i / width) * 1e4 ** ((-2 * (i % (width / 2))) / width);
      const data = Float32Array.from({ length: 300 * width }, (_, i) => f(angle(i)));
      const all = constant('float32', data, [300, width]);
      return add('Unsqueeze', [add('Gather', [all, rows]), integers(1)]);
    };
    const half = (a, b) => add('Slice', [e, integers(a), integers(b), integers(3)]);
    const other = [add('Neg', [half(width / 2, width)]), half(0, width / 2)];
    const crossed = add('Concat', other, { axis: 3 });
    return add('Add', [add('Mul', [e, table(Math.cos)]), add('Mul', [crossed, table(Math.sin)])]);
  }

  function decomposed() {
    let [q, k, v] = projections.map((e) => add('Unsqueeze', [e, integers(1)]));
    if (positions) [q, k] = [rotated(q), rotated(k)];
    for (const [at, each] of [k, v].entries()) {
      const past = presents[at].replace('present', 'past_key_values');
      nodes.push(node('Concat', [past, each], [presents[at]], { axis: 2 }));
    }
    let scores = add('MatMul', [q, add('Transpose', [presents[0]], { perm: [0, 1, 3, 2] })]);
    const columns = add('Unsqueeze', [add('Range', [zero, total, one]), integers(0)]);
    const here = add('Unsqueeze', [add('Range', [before, total, one]), integers(1)]);
    if (alibi) {
      scores = add('Add', [scores, add('Mul', [add('Cast', [columns], { to: 1 }), float(0.25)])]);
    }
    const counts = add('Cast', [add('Unsqueeze', ['attention_mask', integers(1, 2)])], { to: 9 });
    let seen = add('And', [add('LessOrEqual', [columns, here]), counts]);
    if (window > 0) {
      seen = add('And', [seen, add('Greater', [columns, add('Sub', [here, integers(window)])])]);
    }
    scores = add('Add', [scores, add('Where', [seen, float(0), float(-1e9)])]);
    const mixed = add('MatMul', [add('Softmax', [scores], { axis: -1 }), presents[1]]);
    return add('Squeeze', [mixed, integers(1)]);
  }

  const lastRows = last ? add('Slice', [attended, integers(-1), end, integers(1)]) : attended;
  nodes.push(node('MatMul', [lastRows, weights(5, [width, vocabulary])], ['logits']));
  const state = (name, rowsName) => value(name, 'float32', ['batch', 1, rowsName, width]);
  const parts = ['key', 'value'];
  return model({
    nodes,
    initializers,
    opset: 18,
    opsets: { 'com.microsoft': 1 },
    inputs: [
      value('input_ids', 'int64', ['batch', 'sequence']),
      value('attention_mask', 'int64', ['batch', 'total']),
      ...parts.map((each) => state(`past_key_values.0.${each}`, 'past')),
    ],
    outputs: [
      value('logits', 'float32', ['batch', last ? 1 : logitsAxis, vocabulary]),
      ...parts.map((each) => state(`present.0.${each}`, 'total')),
    ],
  });
}

/** All results of consecutive calls with so many tokens, or of calls that each have no past. The first sample is `short` tokens long. */
async function results(api, bytes, calls, { batch, short, fresh }) {
  const session = await createSession(api, bytes, api === ours);
  const all = [];
  let past = {};
  let rows = 0;
  const integers = (data, shape) =>
    new api.Tensor('int64', BigInt64Array.from(data, BigInt), shape);
  for (const count of calls) {
    if (fresh) [past, rows] = [{}, 0];
    rows += count;
    const mask = Array.from({ length: batch * rows }, (_, at) =>
      at >= short && at < calls[0] ? 0 : 1,
    );
    const ids = Array.from({ length: batch * count }, (_, at) => (at * 5 + count) % vocabulary);
    const feeds = {
      input_ids: integers(ids, [batch, count]),
      attention_mask: integers(mask, [batch, rows]),
    };
    for (const each of ['key', 'value']) {
      const none = new api.Tensor('float32', new Float32Array(0), [batch, 1, 0, width]);
      feeds[`past_key_values.0.${each}`] = past[`present.0.${each}`] ?? none;
    }
    past = await session.run(feeds);
    all.push(past);
  }
  await session.release();
  return all;
}

/** `short`: the valid length of the first sample; results of its padding are not compared. */
function compares(title, options, calls, { batch = 1, short = Infinity, fresh = false } = {}) {
  test(title, async () => {
    const bytes = decoder(options);
    const how = { batch, short, fresh };
    const expected = await results(reference, bytes, calls, how);
    for (const [call, found] of (await results(ours, bytes, calls, how)).entries()) {
      for (const [name, { dims, data }] of Object.entries(expected[call])) {
        assert.deepEqual([...found[name].dims], [...dims], `call ${call}: shape of ${name}`);
        const row = data.length / dims.at(-1) / batch;
        const actual = await dataOf(found[name]);
        const worst = data.reduce((largest, each, at) => {
          const token = Math.floor(at / dims.at(-1));
          const counts = call > 0 ? name === 'logits' : token >= row || token < short;
          return counts ? Math.max(largest, Math.abs(each - actual[at])) : largest;
        }, 0);
        assert.ok(worst < 1e-3, `call ${call} of ${calls[call]} tokens: ${name} is ${worst} off`);
      }
    }
  });
}

for (const attention of ['grouped', 'decomposed']) {
  const positions = attention === 'decomposed' ? 'sums' : undefined;
  const lengths = [1, 2, 5, 17, 20, 65, 1];
  const fresh = { fresh: true };
  compares(
    `${attention}: logits of the last token`,
    { attention, positions, last: true },
    lengths,
    fresh,
  );
  compares(
    `${attention}: the same, one prompt`,
    { attention, positions, last: true },
    [37, 1, 5, 1],
  );
  compares(
    `${attention}: logits along an axis of another name`,
    { attention, positions, logitsAxis: 'n' },
    lengths,
    fresh,
  );
  compares(
    `${attention}: along one without a name`,
    { attention, positions, logitsAxis: null },
    [17, 1, 5, 1],
  );
  for (const each of ['mask', 'sums', 'past'].filter(
    (from) => attention === 'decomposed' || from !== 'past',
  )) {
    compares(
      `${attention}: positions by ${each}`,
      { attention, positions: each },
      [5, 1, 1, 17, 1],
    );
  }
}
compares('a window of four tokens', { attention: 'decomposed', window: 4 }, [5, 1, 1, 16, 1]);
compares('a window of the states', { attention: 'decomposed', window: 130 }, [1, 1, 16, 128, 1]);
compares('ALiBi', { attention: 'decomposed', alibi: true }, [5, 1, 1, 17]);
compares('prompts padded at the end', { attention: 'grouped' }, [5, 1, 1], { batch: 2, short: 3 });
