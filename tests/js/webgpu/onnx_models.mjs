// Small ONNX models that the tests run on both devices: a network of convolutions, and an encoder like BERT.
import { ints, model, node, random, tensor, value } from '../onnx/write.mjs';

/** x [batch, 3, 16, 16] → probabilities of five classes, and their indices by rank. */
export function cnn() {
  const conv = (from, to, weights, strides = [1, 1]) =>
    node('Conv', [from, ...weights], [to], {
      kernel_shape: ints([3, 3]),
      pads: ints([1, 1, 1, 1]),
      strides: ints(strides),
    });
  return model({
    nodes: [
      conv('x', 'c1', ['w1', 'b1'], [2, 2]),
      node('BatchNormalization', ['c1', 'scale', 'offset', 'mean', 'variance'], ['n1']),
      node('Relu', ['n1'], ['r1']),
      conv('r1', 'c2', ['w2']),
      node('Add', ['c2', 'r1'], ['a2']),
      node('MaxPool', ['a2'], ['p2'], { kernel_shape: ints([2, 2]), strides: ints([2, 2]) }),
      node('GlobalAveragePool', ['p2'], ['g']),
      node('Flatten', ['g'], ['f']),
      node('Gemm', ['f', 'w3', 'b3'], ['logits'], { transB: 1 }),
      node('Softmax', ['logits'], ['y'], { axis: -1 }),
      node('TopK', ['y', 'k'], ['best', 'classes']),
    ],
    inputs: [value('x', 'float32', ['batch', 3, 16, 16])],
    outputs: [value('y', 'float32', ['batch', 5]), value('classes', 'int64', ['batch', 3])],
    initializers: {
      w1: random(1, [8, 3, 3, 3], 0.3),
      b1: random(2, [8]),
      scale: random(3, [8]),
      offset: random(4, [8]),
      mean: random(5, [8], 0.1),
      variance: tensor('float32', [1, 2, 1, 0.5, 1, 1.5, 1, 1]),
      w2: random(6, [8, 8, 3, 3], 0.2),
      w3: random(7, [5, 8]),
      b3: random(8, [5]),
      k: tensor('int64', [3]),
    },
  });
}

/** Token numbers and a mask [batch, length] → hidden states of two layers, and the pooled first one. */
export function encoder({ width = 32, heads = 4, layers = 2, vocabulary = 50 } = {}) {
  const initializers = {
    words: random(1, [vocabulary, width]),
    positions: random(2, [64, width], 0.3),
    zero: tensor('int64', [0]),
    one: tensor('int64', [1]),
    axes: tensor('int64', [1, 2]),
    split: tensor('int64', [0, 0, heads, width / heads]),
    joined: tensor('int64', [0, 0, width]),
    inverse: tensor('float32', [Math.sqrt(heads / width)], []),
    least: tensor('float32', [-10000], []),
    unit: tensor('float32', [1], []),
    half: tensor('float32', [0.5], []),
    root: tensor('float32', [Math.SQRT1_2], []),
    pool: random(3, [width, width], 0.2),
  };
  let seed = 10;
  const nodes = [
    node('Gather', ['words', 'ids'], ['embedded']),
    node('Shape', ['ids'], ['shape'], { start: 1, end: 2 }),
    node('Slice', ['positions', 'zero', 'shape', 'zero'], ['seen']),
    node('Add', ['embedded', 'seen'], ['h0']),
    node('Unsqueeze', ['mask', 'axes'], ['mask4']),
    node('Cast', ['mask4'], ['maskf'], { to: 1 }),
    node('Sub', ['unit', 'maskf'], ['excluded']),
    node('Mul', ['excluded', 'least'], ['bias']),
  ];
  for (let k = 0; k < layers; k++) {
    const name = (each) => `${each}_${k}`;
    const add = (op, inputs, output, attributes) =>
      nodes.push(node(op, inputs, [name(output)], attributes));
    const dense = (from, to, [rows, columns]) => {
      initializers[name(`w${to}`)] = random(seed++, [rows, columns], 0.2);
      initializers[name(`b${to}`)] = random(seed++, [columns], 0.1);
      add('MatMul', [from, name(`w${to}`)], `${to}w`);
      add('Add', [name(`${to}w`), name(`b${to}`)], to);
    };
    const normalize = (from, to) => {
      initializers[name(`s${to}`)] = random(seed++, [width]);
      initializers[name(`o${to}`)] = random(seed++, [width], 0.1);
      add('LayerNormalization', [from, name(`s${to}`), name(`o${to}`)], to, { axis: -1 });
    };
    const h = `h${k}`;
    for (const [each, perm] of [
      ['q', [0, 2, 1, 3]],
      ['k', [0, 2, 3, 1]],
      ['v', [0, 2, 1, 3]],
    ]) {
      dense(h, each, [width, width]);
      add('Reshape', [name(each), 'split'], `${each}s`);
      add('Transpose', [name(`${each}s`)], `${each}h`, { perm: ints(perm) });
    }
    add('MatMul', [name('qh'), name('kh')], 'products');
    add('Mul', [name('products'), 'inverse'], 'scaled');
    add('Add', [name('scaled'), 'bias'], 'scores');
    add('Softmax', [name('scores')], 'p', { axis: -1 });
    add('MatMul', [name('p'), name('vh')], 'attended');
    add('Transpose', [name('attended')], 'back', { perm: ints([0, 2, 1, 3]) });
    add('Reshape', [name('back'), 'joined'], 'together');
    dense(name('together'), 'o', [width, width]);
    add('Add', [h, name('o')], 'residual');
    normalize(name('residual'), 'n');
    dense(name('n'), 'up', [width, 2 * width]);
    add('Mul', [name('up'), 'root'], 'u');
    add('Erf', [name('u')], 'e');
    add('Add', [name('e'), 'unit'], 'e1');
    add('Mul', [name('up'), name('e1')], 'g2');
    add('Mul', [name('g2'), 'half'], 'gelu');
    dense(name('gelu'), 'down', [2 * width, width]);
    add('Add', [name('n'), name('down')], 'sum');
    normalize(name('sum'), 'out');
    nodes.push(node('Identity', [name('out')], [`h${k + 1}`]));
  }
  nodes.push(
    node('Identity', [`h${layers}`], ['hidden']),
    node('Gather', ['hidden', 'first'], ['cls'], { axis: 1 }),
    node('MatMul', ['cls', 'pool'], ['pooledw']),
    node('Tanh', ['pooledw'], ['pooled']),
  );
  initializers.first = tensor('int64', [0], []);
  return model({
    nodes,
    inputs: [
      value('ids', 'int64', ['batch', 'length']),
      value('mask', 'int64', ['batch', 'length']),
    ],
    outputs: [
      value('hidden', 'float32', ['batch', 'length', width]),
      value('pooled', 'float32', ['batch', width]),
    ],
    initializers,
  });
}

/** Token numbers and a mask for `encoder`: the last token of the last row is masked. */
export function tokens(batch, length) {
  const ids = BigInt64Array.from({ length: batch * length }, (_, at) => BigInt((at * 7 + 3) % 50));
  const mask = new BigInt64Array(batch * length).fill(1n);
  mask[mask.length - 1] = 0n;
  return { ids, mask };
}
