// Branches, loops, scans and functions of ONNX, as one node of the graph or step by step.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { func, graph, model, node, random, ref, tensor, value } from '../../onnx/write.mjs';

const f32 = (name, shape) => value(name, 'float32', shape);
const long = (name) => value(name, 'int64', []);
const truth = (name) => value(name, 'bool', []);
const one = tensor('float32', [1], []);
const constant = (name, contents) => node('Constant', [], [name], { value: contents });

/** The outputs of a model that is built and run once, as arrays. */
async function run(parts, inputs) {
  const loaded = await tl.loadModel(model(parts));
  try {
    const results = await loaded.run(inputs);
    return Object.fromEntries(
      Object.entries(results).map(([name, each]) => [name, [...each.dataSync()].map(Number)]),
    );
  } finally {
    loaded.dispose();
  }
}

/** Both branches read values of the outer graph. */
const branches = {
  then_branch: graph({ nodes: [node('Add', ['x', 'w'], ['p'])], outputs: [f32('p')] }),
  else_branch: graph({ nodes: [node('Mul', ['x', 'w'], ['q'])], outputs: [f32('q')] }),
};

test('If with a constant, an input, and a computed condition', async () => {
  const initializers = { w: tensor('float32', [3], []), yes: tensor('bool', [1], []) };
  const x = Float32Array.of(1, 2);
  const rest = { initializers, outputs: [f32('y')] };
  const fixed = {
    ...rest,
    inputs: [f32('x', ['n'])],
    nodes: [node('If', ['yes'], ['y'], branches)],
  };
  assert.deepEqual(await run(fixed, { x }), { y: [4, 5] });
  const reversed = {
    ...rest,
    inputs: [f32('x', ['n']), truth('c')],
    nodes: [node('If', ['c'], ['y'], branches)],
  };
  assert.deepEqual(await run(reversed, { x, c: Uint8Array.of(1) }), { y: [4, 5] });
  assert.deepEqual(await run(reversed, { x, c: Uint8Array.of(0) }), { y: [3, 6] });
  const computed = {
    ...rest,
    inputs: [f32('x', ['n'])],
    nodes: [
      node('ReduceSum', ['x'], ['sum'], { keepdims: 0 }),
      node('Less', ['sum', 'w'], ['c']),
      node('If', ['c'], ['y'], branches),
    ],
  };
  assert.deepEqual(await run(computed, { x }), { y: [3, 6] });
  assert.deepEqual(await run(computed, { x: Float32Array.of(-1, 2) }), { y: [2, 5] });
});

/** A loop over v, that grows by w each step until it passes a limit; each v is stacked. */
const growing = (body = {}) =>
  graph({
    inputs: [long('i'), truth('c'), f32('v', [])],
    nodes: [
      node('Add', ['v', 'w'], ['next']),
      node('Less', ['next', 'limit'], ['more']),
      node('Identity', ['next'], ['each']),
    ],
    outputs: [truth('more'), f32('next', []), f32('each', [])],
    ...body,
  });
const loop = (inputs, body = growing()) => ({
  inputs: [f32('start', [])],
  initializers: {
    w: one,
    maxTrips: tensor('int64', [5], []),
    yes: tensor('bool', [1], []),
    no: tensor('bool', [0], []),
    limit: tensor('float32', [3], []),
  },
  nodes: [node('Loop', inputs, ['last', 'all'], { body })],
  outputs: [f32('last', []), f32('all', [null])],
});

test('Loop ends by its count, its condition, or both', async () => {
  const from = (start) => ({ start: Float32Array.of(start) });
  assert.deepEqual(await run(loop(['maxTrips', 'yes', 'start']), from(0)), {
    last: [3],
    all: [1, 2, 3],
  });
  const few = await run(loop(['maxTrips', 'yes', 'start']), from(-10));
  assert.deepEqual(few, { last: [-5], all: [-9, -8, -7, -6, -5] });
  assert.deepEqual(await run(loop(['', 'yes', 'start']), from(1)), { last: [3], all: [2, 3] });
  assert.deepEqual(await run(loop(['maxTrips', 'no', 'start']), from(1)), { last: [1], all: [] });
  assert.deepEqual(await run(loop(['maxTrips', '', 'start']), from(2.5)), {
    last: [3.5],
    all: [3.5],
  });
});

test('Loop-carried values may change their shape', async () => {
  const body = graph({
    inputs: [long('i'), truth('c'), f32('v', [null])],
    nodes: [node('Concat', ['v', 'v'], ['next'], { axis: 0 }), node('Identity', ['c'], ['more'])],
    outputs: [truth('more'), f32('next', [null])],
  });
  const parts = {
    inputs: [f32('x', ['n'])],
    initializers: { three: tensor('int64', [3], []) },
    nodes: [node('Loop', ['three', '', 'x'], ['y'], { body })],
    outputs: [f32('y', [null])],
  };
  assert.deepEqual(await run(parts, { x: Float32Array.of(5) }), { y: Array(8).fill(5) });
});

test('nested loops and branches read values of all outer graphs', async () => {
  // Each outer step adds, each inner one doubles where v is odd.
  const odd = graph({ nodes: [node('Mul', ['u', 'two'], ['p'])], outputs: [f32('p', [])] });
  const even = graph({ nodes: [node('Add', ['u', 'v'], ['q'])], outputs: [f32('q', [])] });
  const inner = graph({
    inputs: [long('j'), truth('d'), f32('u', [])],
    nodes: [
      node('Mod', ['u', 'two'], ['rest'], { fmod: 1 }),
      node('Equal', ['rest', 'w'], ['isOdd']),
      node('If', ['isOdd'], ['t'], { then_branch: odd, else_branch: even }),
      node('Identity', ['d'], ['more']),
    ],
    outputs: [truth('more'), f32('t', [])],
  });
  const outer = graph({
    inputs: [long('i'), truth('c'), f32('v', [])],
    nodes: [
      node('Add', ['v', 'w'], ['begin']),
      node('Loop', ['two64', '', 'begin'], ['next'], { body: inner }),
      node('Identity', ['c'], ['go']),
    ],
    outputs: [truth('go'), f32('next', []), f32('begin', [])],
  });
  const parts = {
    inputs: [f32('x', [])],
    initializers: {
      w: one,
      two: tensor('float32', [2], []),
      two64: tensor('int64', [2], []),
      four: tensor('int64', [4], []),
    },
    nodes: [node('Loop', ['four', '', 'x'], ['y', 'all'], { body: outer })],
    outputs: [f32('y', []), f32('all', [null])],
  };
  for (const x of [0, 1, 5]) {
    let v = x;
    const all = [];
    for (let i = 0; i < 4; i++) {
      let u = v + 1;
      all.push(u);
      for (let j = 0; j < 2; j++) u = u % 2 === 1 ? u * 2 : u + v;
      v = u;
    }
    assert.deepEqual(await run(parts, { x: Float32Array.of(x) }), { y: [v], all });
  }
});

test('names of a body shadow outer ones, constants and initializers too', async () => {
  const body = graph({
    inputs: [long('i'), truth('c'), f32('v', [])],
    initializers: { w: tensor('float32', [10], []) },
    nodes: [node('Add', ['v', 'w'], ['next']), node('Identity', ['c'], ['more'])],
    outputs: [truth('more'), f32('next', [])],
  });
  const parts = {
    inputs: [f32('x', [])],
    initializers: { w: one, maxTrips: tensor('int64', [2], []) },
    nodes: [node('Add', ['t', 'w'], ['y']), node('Loop', ['maxTrips', '', 'x'], ['t'], { body })],
    outputs: [f32('y', [])],
  };
  assert.deepEqual(await run(parts, { x: Float32Array.of(0) }), { y: [21] });
});

test('Scan runs along axes, backwards, over several', async () => {
  const body = graph({
    inputs: [f32('s', [2]), f32('a', [2]), f32('b', [2])],
    nodes: [
      node('Mul', ['a', 'b'], ['product']),
      node('Add', ['s', 'product'], ['sum']),
      node('Identity', ['sum'], ['each']),
    ],
    outputs: [f32('sum', [2]), f32('each', [2])],
  });
  const a = random(1, [2, 3]).data;
  const b = random(2, [3, 2]).data;
  const parts = {
    inputs: [f32('s', [2]), f32('a', [2, 3]), f32('b', [3, 2])],
    nodes: [
      node('Scan', ['s', 'a', 'b'], ['y', 'all'], {
        body,
        num_scan_inputs: 2,
        scan_input_axes: [1, 0],
        scan_input_directions: [1, 0],
        scan_output_axes: [1],
        scan_output_directions: [1],
      }),
    ],
    outputs: [f32('y', [2]), f32('all', [2, 3])],
  };
  const sum = [1, 2];
  const all = Array(6);
  for (let step = 0; step < 3; step++) {
    for (let k = 0; k < 2; k++) {
      sum[k] += a[k * 3 + 2 - step] * b[step * 2 + k];
      all[k * 3 + 2 - step] = sum[k];
    }
  }
  const actual = await run(parts, { s: [1, 2], a, b });
  for (const [name, expected] of Object.entries({ y: sum, all })) {
    actual[name].forEach((each, at) => assert.ok(Math.abs(each - expected[at]) < 1e-5, name));
  }
});

test('functions call functions, with their attributes, in any order of nodes', async () => {
  const domain = 'custom';
  const opsets = { custom: 1 };
  const scaled = func({
    domain,
    name: 'Scaled',
    inputs: ['a', 'b'],
    outputs: ['c'],
    attributes: ['slope'],
    nodes: [
      node('Add', ['l', 'b'], ['c']),
      node('LeakyRelu', ['a'], ['l'], { alpha: ref('slope', 'float') }),
    ],
    opsets,
  });
  const outer = func({
    domain,
    name: 'Outer',
    inputs: ['a'],
    outputs: ['d'],
    attributes: ['by'],
    nodes: [
      constant('k', one),
      node('Scaled', ['a', 'k'], ['d'], { slope: ref('by', 'float') }, { domain }),
    ],
    opsets,
  });
  const parts = {
    functions: [outer, scaled],
    opsets,
    inputs: [f32('x', ['n'])],
    nodes: [node('Neg', ['t'], ['y']), node('Outer', ['x'], ['t'], { by: 0.5 }, { domain })],
    outputs: [f32('y')],
  };
  assert.deepEqual(await run(parts, { x: Float32Array.of(-4, 3) }), { y: [1, -4] });
});

test('outputs are requested in another order than their nodes have', async () => {
  // The value of the second node is requested first.
  const count = (from, to) => [
    node('NonZero', [from], [`${to}p`]),
    node('Shape', [`${to}p`], [`${to}s`]),
    node('Gather', [`${to}s`, 'first'], [to]),
  ];
  const parts = {
    inputs: [f32('x', ['n']), f32('z', ['m'])],
    initializers: { first: tensor('int64', [1]), w: tensor('float32', [1]) },
    nodes: [
      ...count('x', 'a'),
      ...count('z', 'b'),
      node('Expand', ['w', 'b'], ['q']),
      node('Expand', ['w', 'a'], ['p']),
    ],
    outputs: [f32('p'), f32('q')],
  };
  const actual = await run(parts, { x: Float32Array.of(1, 0, 2), z: Float32Array.of(0, 0, 3, 0) });
  assert.deepEqual(actual, { p: [1, 1], q: [1] });
});

test('conditions may be empty', async () => {
  const parts = {
    inputs: [f32('x', ['n']), f32('sizes', ['m'])],
    nodes: [node('Cast', ['sizes'], ['to'], { to: 7 }), node('Reshape', ['x', 'to'], ['y'])],
    outputs: [f32('y')],
  };
  const actual = await run(parts, { x: Float32Array.of(5), sizes: new Float32Array(0) });
  assert.deepEqual(actual, { y: [5] });
});
