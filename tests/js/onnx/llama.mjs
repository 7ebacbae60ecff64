// Llamas as ONNX models with a key/value cache, as exporters write them: of plain operators, or of those of com.microsoft. Weights
// are read or drawn by the caller. The angles turn neighbors, as in llama2.c.
import { float, model, node, tensor, value } from './write.mjs';

const block = 32;

/** Quantizes the columns of a matrix in blocks, with 4 or 8 bits: the first in the low bits, the middle value for zero. */
function packBlocks(values, from, to, inColumn, inRow, bits) {
  const packed = new Uint8Array((from * to * bits) / 8);
  const [zero, perByte] = [2 ** (bits - 1), 8 / bits];
  const scales = new Float32Array((from * to) / block);
  for (let column = 0; column < to; column++) {
    for (let first = 0; first < from; first += block) {
      const at = (k) => values[(first + k) * inColumn + column * inRow];
      let largest = 0;
      for (let k = 0; k < block; k++) largest = Math.max(largest, Math.abs(at(k)));
      const blockIndex = (column * from + first) / block;
      scales[blockIndex] = largest / (zero - 1) || 1;
      for (let k = 0; k < block; k++) {
        const digit = Math.round(at(k) / scales[blockIndex]) + zero;
        packed[Math.floor((blockIndex * block + k) / perByte)] |= digit << (bits * (k % perByte));
      }
    }
  }
  return { packed, scales };
}

const words = new Uint32Array(1);
const floats = new Float32Array(words.buffer);

/** The float16 bits of a number, rounded toward zero; it must be finite and in range. */
export function float16Bits(number) {
  floats[0] = number;
  const exponent = ((words[0] >>> 23) & 255) - 112;
  if (exponent <= 0) return 0;
  return ((words[0] >>> 16) & 0x8000) | (exponent << 10) | ((words[0] >>> 13) & 1023);
}

/**
 * `weights(name, shape)`: a Float32Array for 'embedding' [vocabulary, width], 'norm', 'attention_norm.L', 'feed_norm.L' [width],
 * and 'q.L', 'k.L', 'v.L', 'o.L', 'gate.L', 'up.L', 'down.L', each [in, out]. The last product is by the embedding. With 4 or 8
 * bits the weights are quantized in blocks of 32 with a scale each, with 16 they are float16 with a cast. `dynamic`: by 8 bits of each
 * matrix, times 8 bits of all that is multiplied by it. `cacheType`: of keys, values and `grouped` attention.
 */
export function llama(
  { width, heads, groups, layers, hidden, vocabulary, positions },
  weights,
  { grouped = false, bits = 32, dynamic = false, cacheType = 'float32' } = {},
) {
  const size = width / heads;
  const nodes = [];
  const initializers = {};
  let count = 0;
  const ops = (op, inputs, outputs, attributes, domain) => {
    const names = Array.from({ length: outputs }, () => `${op}_${count++}`);
    nodes.push(node(op, inputs, names, attributes, { domain, name: names[0] }));
    return names;
  };
  const op = (kind, inputs, attributes = {}, domain = '') =>
    ops(kind, inputs, 1, attributes, domain)[0];
  const named = (name, weightTensor) => ((initializers[name] = weightTensor), name);
  const ints = (...values) => named(`ints_${values.join('_')}`, tensor('int64', values));
  const scalar = (number) => named(`scalar_${number}`, tensor('float32', [number], []));
  const weight = (name, shape) => named(name, tensor('float32', weights(name, shape), shape));
  const product = (x, name, from, to) => {
    if (dynamic) return ofBytes(x, name, weights(name, [from, to]), [from, to]);
    if (bits >= 16) return op('MatMul', [x, matrix(name, [from, to])]);
    return quantizedProduct(x, name, weights(name, [from, to]), from, to, to, 1);
  };
  const matrix = (name, shape) => {
    if (bits === 32) return weight(name, shape);
    const float16s = tensor('float16', Uint16Array.from(weights(name, shape), float16Bits), shape);
    return op('Cast', [named(`${name}.half`, float16s)], { to: 1 });
  };
  const ofBytes = (x, name, values, shape) => {
    const scale = Math.max(...values.map(Math.abs)) / 127;
    const [bytes, by, zero] = ops('DynamicQuantizeLinear', [x], 3);
    const weightTensor = tensor(
      'int8',
      Int8Array.from(values, (each) => Math.round(each / scale)),
      shape,
    );
    const sums = op('MatMulInteger', [bytes, named(`${name}.bytes`, weightTensor), zero]);
    return op('Mul', [op('Cast', [sums], { to: 1 }), op('Mul', [by, scalar(scale)])]);
  };
  /** The quantized product with a matrix [from, to] with these strides within a column and within a row. */
  const quantizedProduct = (x, name, values, from, to, inColumn, inRow) => {
    const { packed, scales } = packBlocks(values, from, to, inColumn, inRow, bits);
    const operands = [
      named(`${name}.packed`, tensor('uint8', packed, [to, from / block, (block * bits) / 8])),
      named(`${name}.scales`, tensor('float32', scales, [to, from / block])),
    ];
    const attributes = { K: from, N: to, bits, block_size: block };
    return op('MatMulNBits', [x, ...operands], attributes, 'com.microsoft');
  };

  const cacheShape = (rows) => ['batch', groups, rows, size];
  const inputs = [
    value('input_ids', 'int64', ['batch', 'sequence']),
    value('attention_mask', 'int64', ['batch', 'total']),
  ];
  const outputs = [value('logits', 'float32', ['batch', 'sequence', vocabulary])];
  const past = Array.from({ length: layers }, (_, layer) =>
    ['key', 'value'].map((each) => {
      inputs.push(value(`past_key_values.${layer}.${each}`, cacheType, cacheShape('past')));
      outputs.push(value(`present.${layer}.${each}`, cacheType, cacheShape('total')));
      return `past_key_values.${layer}.${each}`;
    }),
  );
  const angle = (at) => Math.floor(at / (size / 2)) * 1e4 ** ((-2 * (at % (size / 2))) / size);
  const table = (name, of) =>
    named(
      name,
      tensor(
        'float32',
        Float32Array.from({ length: positions * (size / 2) }, (_, at) => of(angle(at))),
        [positions, size / 2],
      ),
    );
  const [cosines, sines] = [table('cosines', Math.cos), table('sines', Math.sin)];
  const norm = (x, name) => {
    const mean = op('ReduceMean', [op('Mul', [x, x]), ints(-1)], { keepdims: 1 });
    const root = op('Sqrt', [op('Add', [mean, scalar(1e-5)])]);
    return op('Mul', [op('Div', [x, root]), weight(name, [width])]);
  };

  const attend = grouped ? groupedAttention() : plainAttention();
  const embedding = (bits === 16 ? matrix : weight)('embedding', [vocabulary, width]);
  let x = op('Gather', [embedding, 'input_ids']);
  for (let layer = 0; layer < layers; layer++) {
    const y = norm(x, `attention_norm.${layer}`);
    const [q, k, v] = [
      ['q', heads],
      ['k', groups],
      ['v', groups],
    ].map(([name, many]) => product(y, `${name}.${layer}`, width, many * size));
    x = op('Add', [x, product(attend(layer, q, k, v), `o.${layer}`, width, width)]);
    const z = norm(x, `feed_norm.${layer}`);
    const gate = product(z, `gate.${layer}`, width, hidden);
    const open = op('Mul', [gate, op('Sigmoid', [gate])]);
    const fed = op('Mul', [open, product(z, `up.${layer}`, width, hidden)]);
    x = op('Add', [x, product(fed, `down.${layer}`, hidden, width)]);
  }
  const last = norm(x, 'norm');
  const scores =
    bits >= 16
      ? op('MatMul', [last, op('Transpose', [embedding], { perm: [1, 0] })])
      : quantizedProduct(
          last,
          'head',
          weights('embedding', [vocabulary, width]),
          width,
          vocabulary,
          1,
          width,
        );
  nodes.push(node('Identity', [scores], ['logits']));
  return model({
    nodes,
    inputs,
    outputs,
    initializers,
    opset: 18,
    opsets: { 'com.microsoft': 1 },
  });

  function plainAttention() {
    inputs.splice(2, 0, value('position_ids', 'int64', ['batch', 'sequence']));
    const turns = [cosines, sines].map((each) =>
      op('Unsqueeze', [op('Gather', [each, 'position_ids']), ints(2)]),
    );
    const range = (end) => {
      const [zero, one] = [0, 1].map((number) =>
        named(`int_${number}`, tensor('int64', [number], [])),
      );
      return op('Range', [zero, op('Squeeze', [end]), one]);
    };
    const [length, total] = ['input_ids', 'attention_mask'].map((each) =>
      op('Gather', [op('Shape', [each]), ints(1)]),
    );
    const rows = op('Add', [range(length), op('Sub', [total, length])]);
    const isBefore = op('LessOrEqual', [
      op('Unsqueeze', [range(total), ints(0)]),
      op('Unsqueeze', [rows, ints(1)]),
    ]);
    const isSeen = op('Cast', [op('Unsqueeze', ['attention_mask', ints(1, 2)])], { to: 9 });
    const mask = op('Where', [op('And', [isSeen, isBefore]), scalar(0), scalar(-1e9)]);
    const split = (each, many) => op('Reshape', [each, ints(0, 0, many, size)]);
    const rotated = (each, many) => {
      const pairs = op('Reshape', [split(each, many), ints(0, 0, many, size / 2, 2)]);
      const [even, odd] = ops('Split', [pairs], 2, { axis: -1, num_outputs: 2 }).map((half) =>
        op('Squeeze', [half, ints(-1)]),
      );
      const turn = (a, b, sign) => op(sign, [op('Mul', [a, turns[0]]), op('Mul', [b, turns[1]])]);
      const both = [turn(even, odd, 'Sub'), turn(odd, even, 'Add')].map((half) =>
        op('Unsqueeze', [half, ints(-1)]),
      );
      return op('Reshape', [op('Concat', both, { axis: -1 }), ints(0, 0, many, size)]);
    };
    const byHead = (each) => op('Transpose', [each], { perm: [0, 2, 1, 3] });
    const repeated = (each) => {
      if (groups === heads) return each;
      const many = op('Expand', [
        op('Unsqueeze', [each, ints(2)]),
        ints(1, 1, heads / groups, 1, 1),
      ]);
      return op('Reshape', [many, ints(0, heads, -1, size)]);
    };
    return (layer, q, k, v) => {
      const fresh = [byHead(rotated(k, groups)), byHead(split(v, groups))];
      const [keys, values] = fresh.map((each, at) => {
        const name = `present.${layer}.${['key', 'value'][at]}`;
        nodes.push(node('Concat', [past[layer][at], each], [name], { axis: 2 }));
        return repeated(name);
      });
      const scores = op('MatMul', [
        byHead(rotated(q, heads)),
        op('Transpose', [keys], { perm: [0, 1, 3, 2] }),
      ]);
      const scaled = op('Add', [op('Mul', [scores, scalar(1 / Math.sqrt(size))]), mask]);
      const mixed = op('MatMul', [op('Softmax', [scaled], { axis: -1 }), values]);
      return op('Reshape', [byHead(mixed), ints(0, 0, width)]);
    };
  }

  function groupedAttention() {
    const seen = op('ReduceSum', ['attention_mask', ints(1)], { keepdims: 0 });
    const last = op('Cast', [op('Sub', [seen, ints(1)])], { to: 6 });
    const total = op(
      'Cast',
      [op('Gather', [op('Shape', ['attention_mask']), named('int_1', tensor('int64', [1], []))])],
      { to: 6 },
    );
    const as = (type, each) =>
      cacheType === 'float32' ? each : op('Cast', [each], { to: type === 'float16' ? 10 : 1 });
    const tables = [cosines, sines].map((each) => as('float16', each));
    return (layer, ...projections) => {
      const [q, k, v] = projections.map((each) => as('float16', each));
      const name = `GroupQueryAttention_${count++}`;
      nodes.push(
        node(
          'GroupQueryAttention',
          [q, k, v, ...past[layer], last, total, ...tables],
          [name, `present.${layer}.key`, `present.${layer}.value`],
          {
            num_heads: heads,
            kv_num_heads: groups,
            do_rotary: 1,
            rotary_interleaved: 1,
            scale: float(1 / Math.sqrt(size)),
          },
          { domain: 'com.microsoft', name },
        ),
      );
      return as('float32', name);
    };
  }
}

/** Greedy decoding, token by token; `run(feeds)` returns the outputs, `zeros(shape)` an empty tensor. */
export async function generate(
  { groups, layers, width, heads, vocabulary },
  run,
  prompt,
  steps,
  { int64, zeros, pick },
) {
  const size = width / heads;
  let cache = {};
  for (let layer = 0; layer < layers; layer++) {
    for (const each of ['key', 'value']) {
      cache[`past_key_values.${layer}.${each}`] = zeros([1, groups, 0, size]);
    }
  }
  const tokens = [...prompt];
  let fresh = [...prompt];
  while (tokens.length < prompt.length + steps) {
    const results = await run({
      input_ids: int64(fresh),
      attention_mask: int64(Array(tokens.length).fill(1)),
      position_ids: int64(fresh.map((_, at) => tokens.length - fresh.length + at)),
      ...cache,
    });
    const next = await pick(results.logits, fresh.length, vocabulary);
    fresh = [next];
    tokens.push(next);
    cache = Object.fromEntries(
      Object.keys(cache).map((name) => [name, results[name.replace('past_key_values', 'present')]]),
    );
  }
  return tokens;
}
