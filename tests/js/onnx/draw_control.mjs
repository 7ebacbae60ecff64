// Random branches, loops and scans, with bodies drawn as the outer graph, and complete models.
import { count, Draw, isInteger, Scope } from './draw.mjs';
import { operatorRecipes } from './draw_operators.mjs';
import { func, graph, model, node, value } from './write.mjs';

const deepest = 2;
const isStatic = ({ shape }) => shape.every(Number.isInteger);
const types = ['float32', 'float32', 'float32', 'int64', 'int32', 'bool', 'uint8'];
const declared = ({ name, dtype, shape }) => value(name, dtype, shape);
/** Bounds of body outputs: floats are made small, and are not compared. */
const settled = (dtype) =>
  dtype === 'float32' ? { bits: 4, rounds: true } : { bits: isInteger(dtype) ? 60 : 3 };

/** A boolean that is not constant. */
function truth(s) {
  const x = s.find(({ dtype }) => dtype === 'bool');
  return s.fitted(x ?? s.find(), 'bool', []);
}

/** The value as a separate output, as graphs require; floats are bounded. */
function bodyOutput(s, x, dtype, shape) {
  const y = s.fitted(x, dtype, shape);
  return s.like(dtype === 'float32' ? 'Tanh' : 'Identity', y, {}, settled(dtype));
}

const body = (s, inputs, outputs) =>
  graph({
    nodes: s.nodes,
    inputs: inputs.map(declared),
    outputs: outputs.map(declared),
    initializers: s.initializers,
    name: s.fresh('graph'),
  });

/** Output types of a node with graphs. */
function randomTypes(s, max) {
  return Array.from({ length: s.draw.between(1, max) }, () => {
    const like = s.find(isStatic);
    if (like && s.draw.chance(0.7)) return { dtype: like.dtype, shape: like.shape };
    return { dtype: s.draw.pick(types), shape: s.draw.shape(s.draw.below(3), 200) };
  });
}

function branched(s) {
  const condition = truth(s);
  const results = randomTypes(s, 3);
  const branch = () => {
    const inner = new Scope(s.draw, s);
    grow(inner, s.draw.below(5));
    const outputs = results.map(({ dtype, shape }) =>
      bodyOutput(inner, inner.find(), dtype, shape),
    );
    return body(inner, [], outputs);
  };
  const attributes = { then_branch: branch(), else_branch: branch() };
  const outputs = results.map(({ dtype, shape }) => s.add(dtype, shape, settled(dtype)));
  s.nodes.push(
    node(
      'If',
      [condition.name],
      outputs.map(({ name }) => name),
      attributes,
    ),
  );
  return true;
}

function looped(s) {
  const trips = s.draw.below(6);
  const isConstant = s.draw.chance(0.5);
  const maxTrips = isConstant
    ? s.constant('int64', [trips], [])
    : s.apply(
        'Mod',
        [s.fitted(s.find(), 'int64', []), s.constant('int64', [5], [])],
        {},
        'int64',
        [],
      );
  const states = randomTypes(s, 2).map(({ dtype, shape }) => s.fitted(s.find(), dtype, shape));
  const inner = new Scope(s.draw, s);
  const step = inner.add('int64', [], { bits: 5 });
  const goes = inner.add('bool', []);
  const before = states.map(({ dtype, shape }) => inner.add(dtype, shape, settled(dtype)));
  grow(inner, s.draw.between(1, 6));
  const ends = s.draw.chance(0.4);
  const limit = ends && inner.constant('int64', [s.draw.below(5)], []);
  const more = ends
    ? inner.apply('Less', [step, limit], {}, 'bool', [])
    : inner.apply('Identity', [goes], {}, 'bool', []);
  const after = states.map(({ dtype, shape }) => bodyOutput(inner, inner.find(), dtype, shape));
  const stacked = s.draw.chance(0.6) ? [inner.find(isStatic)].filter(Boolean) : [];
  const stacks = stacked.map(({ dtype, shape }) => bodyOutput(inner, inner.find(), dtype, shape));
  const length = isConstant && !ends ? trips : s.fresh('n');
  const outputs = [
    ...states.map(({ dtype, shape }) => s.add(dtype, shape, settled(dtype))),
    ...stacks.map(({ dtype, shape }) => s.add(dtype, [length, ...shape], settled(dtype))),
  ];
  const start = s.draw.chance(0.5) ? s.constant('bool', [1], []) : undefined;
  const operands = [maxTrips.name, start?.name ?? '', ...states.map(({ name }) => name)];
  const loop = body(inner, [step, goes, ...before], [more, ...after, ...stacks]);
  s.nodes.push(
    node(
      'Loop',
      operands,
      outputs.map(({ name }) => name),
      { body: loop },
    ),
  );
  return true;
}

function scanned(s) {
  const x = s.find((x) => isStatic(x) && x.shape.length > 0 && x.shape.every((size) => size > 0));
  if (!x) return false;
  const axis = s.draw.below(x.shape.length);
  const steps = x.shape[axis];
  const states = randomTypes(s, 2).map(({ dtype, shape }) => s.fitted(s.find(), dtype, shape));
  const inner = new Scope(s.draw, s);
  const before = states.map(({ dtype, shape }) => inner.add(dtype, shape, settled(dtype)));
  const slice = inner.add(x.dtype, x.shape.toSpliced(axis, 1), { bits: x.bits, rounds: x.rounds });
  grow(inner, s.draw.between(1, 5));
  const after = states.map(({ dtype, shape }) => bodyOutput(inner, inner.find(), dtype, shape));
  const like = inner.find(isStatic);
  const stack = bodyOutput(inner, inner.find(), like.dtype, like.shape);
  if (steps * count(stack.shape) > 20000) return false;
  const [from, to] = [s.draw.below(2), s.draw.below(2)];
  const outputs = [
    ...states.map(({ dtype, shape }) => s.add(dtype, shape, settled(dtype))),
    s.add(stack.dtype, [steps, ...stack.shape], settled(stack.dtype)),
  ];
  const scan = body(inner, [...before, slice], [...after, stack]);
  s.nodes.push(
    node(
      'Scan',
      [...states, x].map(({ name }) => name),
      outputs.map(({ name }) => name),
      {
        body: scan,
        num_scan_inputs: 1,
        scan_input_axes: [axis],
        scan_input_directions: [from],
        scan_output_directions: [to],
      },
    ),
  );
  return true;
}

const controlRecipes = [
  [2, branched],
  [2, looped],
  [2, scanned],
];

/** Adds this many nodes, or a few more, where recipes add several. */
function grow(s, nodes) {
  const recipes = [...operatorRecipes, ...(s.depth < deepest ? controlRecipes : [])];
  const all = recipes.reduce((sum, [weight]) => sum + weight, 0);
  for (let left = nodes; left > 0; left--) {
    for (let attempt = 0; attempt < 20; attempt++) {
      let at = s.draw.below(all);
      const [, recipe] = recipes.find(([weight]) => (at -= weight) < 0);
      if (recipe(s) !== false) break;
    }
  }
}

/** A model-local function on a value, and a node that calls it. */
function called(s, functions) {
  const x = s.find((x) => isStatic(x));
  const inner = new Scope(s.draw);
  inner.root = s.root;
  inner.depth = deepest;
  const input = inner.add(x.dtype, x.shape, settled(x.dtype));
  grow(inner, s.draw.between(1, 5));
  const output = bodyOutput(inner, inner.find(), x.dtype, x.shape);
  const weights = Object.entries(inner.initializers).map(([name, data]) =>
    node('Constant', [], [name], { value: data }),
  );
  const name = s.fresh('function');
  functions.push(
    func({
      domain: 'custom',
      name,
      inputs: [input.name],
      outputs: [output.name],
      nodes: [...weights, ...inner.nodes],
    }),
  );
  s.apply(name, [x], {}, x.dtype, x.shape, { ...settled(x.dtype), of: { domain: 'custom' } });
}

/**
 * The model of a seed: { bytes, feeds, length }, the last in nodes as they are drawn. With fewer than all of its `nodes` it is the beginning of the same model. Its
 * outputs are the values without consumers.
 */
export function drawModel(seed, nodes = Infinity) {
  const draw = new Draw(seed);
  const s = new Scope(draw);
  const feeds = {};
  const inputs = Array.from({ length: draw.between(1, 3) }, () => {
    const dtype = draw.pick(types);
    const data = draw.tensor(dtype, draw.shape(draw.between(0, 4)));
    const input = s.add(dtype, data.shape);
    feeds[input.name] = data;
    const isOpen = draw.chance(0.5);
    return value(input.name, dtype, isOpen ? data.shape.map(() => s.fresh('size')) : data.shape);
  });
  const functions = [];
  const length = draw.between(2, 24);
  const withFunction = draw.chance(0.2);
  for (let k = 0; k < Math.min(length, nodes); k++) {
    if (withFunction && k % 6 === 1) called(s, functions);
    else grow(s, 1);
  }
  const read = new Set(names(s.nodes));
  const isLeft = ({ name }) => !(name in feeds) && !read.has(name);
  let outputs = s.values.filter(isLeft);
  if (outputs.length === 0) outputs = [s.like('Identity', s.find())];
  const bytes = model({
    nodes: s.nodes,
    inputs,
    outputs: outputs.map(({ name, dtype }) => value(name, dtype)),
    initializers: s.initializers,
    functions,
    opsets: functions.length > 0 ? { custom: 1 } : {},
  });
  return { bytes, feeds, length };
}

/** All that nodes read, those in their graphs too. */
function names(nodes) {
  return nodes.flatMap(({ inputs, attributes }) => [
    ...inputs,
    ...Object.values(attributes).flatMap((each) => (each?.nodes ? names(each.nodes) : [])),
  ]);
}
