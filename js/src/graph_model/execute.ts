/**
 * Runs the nodes of a graph. Each records lazy operations; their results are computed when they are read, so that a graph
 * without loops becomes one module for the shapes it is called with.
 */
import { LatheError } from '../base/errors.js';
import { checkCount, checkDepth, maxElements, maxTensors } from '../base/limits.js';
import { checkStop } from '../base/stop.js';
import { engine } from '../eager/engine.js';
import { DeviceValue } from '../runtime/device_value.js';
import { defaultDevice } from '../devices/registry.js';
import { dispose, tensorsIn } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';
import { Call, type Operator, type Value, type Values } from './call.js';
import { type NodeExecutor, runFrames } from './frames.js';
import { operatorOf, ports } from './operators/index.js';
import { type Steps, tidySteps, unreadIn } from './steps.js';
import type { GraphNode, ModelGraph, Source, Topology } from './topology.js';

/** Control-flow operators of TensorFlow 1, whose values circulate among nodes. */
const cyclic = new Set(['Enter', 'Exit', 'LoopCond', 'Merge', 'NextIteration', 'Switch']);
/** Operators that run functions of the graph. */
const callers = new Set([
  'If',
  'PartitionedCall',
  'StatefulPartitionedCall',
  'StatelessIf',
  'StatelessWhile',
  'While',
]);
const placeholders = new Set(['Const', 'Placeholder']);
/** Operators that TensorFlow.js runs only in `executeAsync`. */
const dynamic =
  /^(If|While|Stateless(If|While)|NonMaxSuppressionV[235]|Where|(Lookup|Hash)Table.*)$/;

export class Executor implements NodeExecutor {
  /** The nesting depth of running functions and branches. */
  #depth = 0;
  /** Function calls and loop iterations of this run, limited so that endless loops are errors. */
  #calls = 0;
  readonly #orders = new WeakMap<Topology, Map<string, readonly GraphNode[]>>();

  constructor(
    private readonly graph: ModelGraph,
    private readonly weights: ReadonlyMap<string, Tensor>,
    /** The outputs of nodes that make tables, by node name; they persist across calls. */
    private readonly tables: Map<string, readonly Value[]>,
  ) {}

  /**
   * The results of a graph for values of some of its nodes. `seen` receives the outputs of all others.
   * `mayLoop`: whether results may be nodes within loops, of which the last value is returned.
   */
  *run(
    topology: Topology,
    fed: Values,
    results: readonly Source[],
    seen: Values = new Map(),
    mayLoop = false,
  ): Steps<Value[]> {
    if (this.#depth === 0) this.#calls = 0;
    checkStop();
    for (const [name, values] of fed) seen.set(name, values);
    const order = this.#order(topology, fed, results);
    if (order.some(({ op }) => cyclic.has(op))) {
      const within = yield* runFrames(this, topology, order, seen);
      for (const { node } of results) {
        const values = seen.has(node) ? undefined : within.get(node);
        if (values === undefined) continue;
        if (mayLoop) seen.set(node, values);
        else {
          const { op } = topology.nodes.get(node)!;
          throw new LatheError(
            `This execution contains the node '${node}', which has the dynamic op '${op}' and is within a loop. Please use model.executeAsync() instead.`,
          );
        }
      }
    } else
      for (const node of order)
        seen.set(node.name, yield* this.evaluate(node, this.operands(node, topology, seen)));
    return results.map((each) => this.value(each, topology, seen));
  }

  operands(node: GraphNode, topology: Topology, seen: Values): Value[] {
    return node.inputs.map((each) => this.value(each, topology, seen));
  }

  /** The outputs of a node for its operands. Error: an unsupported operator. */
  *evaluate(node: GraphNode, operands: readonly Value[]): Steps<readonly Value[]> {
    checkStop();
    const call = new Call(node, operands);
    if (callers.has(node.op)) return yield* this.#callFunction(call);
    const operator = operatorOf(node.op);
    if (operator === undefined) {
      const others = this.#unknown().filter((each) => each !== node.op);
      throw new LatheError(
        `Unknown op '${node.op}'. Register a custom execution with tf.registerOp()` +
          (others.length === 0 ? '' : `; the graph also has the unknown ops ${others.join(', ')}`),
      );
    }
    const isTable = node.op.startsWith('HashTable');
    const cached = isTable ? this.tables.get(node.name) : undefined;
    if (cached !== undefined) return cached;
    const found = yield* computed(operator, call);
    const values = Array.isArray(found) ? found : [found];
    for (const each of values) {
      if (isTensor(each) && each.size > maxElements) checkGrowth(call, each);
    }
    if (isTable) this.tables.set(node.name, values);
    return values;
  }

  /** The value of an edge. Error: it has not been computed. */
  value({ node, port, index }: Source, topology: Topology, seen: Values): Value {
    const values = seen.get(node);
    if (values === undefined) {
      const weight = this.weights.get(node);
      if (weight !== undefined) return weight;
      throw new LatheError(`graph model: there is no value of "${node}"`);
    }
    const names = ports[topology.nodes.get(node)?.op ?? ''] ?? [];
    const first = port === undefined ? 0 : Math.max(0, names.indexOf(port));
    return values[first + index];
  }

  /** Whether TensorFlow.js runs nodes with these outputs only in `executeAsync`. */
  isDynamic(seen: Values): boolean {
    const ops = [...seen.keys()].map((name) => this.graph.main.nodes.get(name)?.op ?? '');
    return ops.some((op) => cyclic.has(op) || dynamic.test(op));
  }

  /** The unsupported operators of the graph. */
  #unknown(): string[] {
    const all = [this.graph.main, ...this.graph.functions.values()];
    const ops = all.flatMap(({ nodes }) => [...nodes.values()].map(({ op }) => op));
    const isSupported = (op: string) =>
      placeholders.has(op) || callers.has(op) || cyclic.has(op) || operatorOf(op) !== undefined;
    return [...new Set(ops.filter((op) => !isSupported(op)))];
  }

  *#callFunction(call: Call): Steps<readonly Value[]> {
    const { op } = call.node;
    if (/While$/.test(op)) return yield* this.#loop(call);
    if (/If$/.test(op)) {
      const unread = unreadIn([call.values[0]]);
      if (unread.length > 0) yield unread;
      const isTrue = call.number(0) !== 0;
      const branch = call.attribute(isTrue ? 'then_branch' : 'else_branch', '');
      return yield* this.#apply(call, branch, call.values.slice(1));
    }
    return yield* this.#apply(call, call.attribute('f', ''), call.values);
  }

  /** Computes each iteration separately, so that all run the same module. */
  *#loop(call: Call): Steps<readonly Value[]> {
    const [test, body] = [call.attribute('cond', ''), call.attribute('body', '')];
    let values = call.values;
    for (;;) {
      const now = values;
      const goesOn = yield* tidySteps(this.#isTrue(call, test, now));
      if (!goesOn) return values;
      values = yield* tidySteps(this.#apply(call, body, now));
      const next = new Set(tensorsIn([...values]));
      const { device, plans } = engine;
      const computed = [...next].filter(({ dtype }) => dtype !== ('string' as string));
      const deviceValues = computed.map((each) => DeviceValue.of(each, device));
      plans.compute(deviceValues.filter((each) => each.device === device));
      const retained = new Set([...next, ...tensorsIn([...call.values])]);
      dispose(tensorsIn([...now]).filter((each) => !retained.has(each)));
    }
  }

  *#isTrue(call: Call, test: string, values: readonly Value[]): Steps<boolean> {
    const [condition] = (yield* this.#apply(call, test, values)) as [Tensor];
    const unread = unreadIn([condition]);
    if (unread.length > 0) yield unread;
    return condition.dataSync()[0] !== 0;
  }

  /** Counts a function call or loop iteration. Error: too many. */
  step(where: string): void {
    this.#calls += 1;
    checkCount(where, 'calls of functions and rounds of loops', this.#calls, maxTensors);
  }

  *#apply(call: Call, name: string, values: readonly Value[]): Steps<readonly Value[]> {
    const topology = this.graph.functions.get(name);
    if (topology === undefined) throw call.wrong(`there is no function "${name}"`);
    const fed = new Map(topology.arguments.map((each, at) => [each, [values[at]]] as const));
    const where = `graph model: ${call.node.op} "${call.node.name}"`;
    checkDepth(where, this.#depth + 1);
    this.step(where);
    this.#depth += 1;
    try {
      return yield* this.run(topology, fed, topology.results);
    } finally {
      this.#depth -= 1;
    }
  }

  /** The nodes that results depend on, topologically sorted except for back edges of loops. */
  #order(topology: Topology, fed: Values, results: readonly Source[]): readonly GraphNode[] {
    const key = `${[...fed.keys()].join()}>${results.map(({ node }) => node).join()}`;
    const cached = this.#orders.get(topology) ?? new Map<string, readonly GraphNode[]>();
    this.#orders.set(topology, cached);
    let order = cached.get(key);
    if (order === undefined) {
      order = this.#sorted(topology, fed, results);
      cached.set(key, order);
    }
    return order;
  }

  #sorted(topology: Topology, fed: Values, results: readonly Source[]): GraphNode[] {
    const order: GraphNode[] = [];
    const seen = new Set<string>(fed.keys());
    const missing: string[] = [];
    const stack: { node: GraphNode; next: number }[] = [];
    const visit = (name: string) => {
      if (seen.has(name) || this.weights.has(name)) return;
      seen.add(name);
      const node = topology.nodes.get(name);
      if (node === undefined || placeholders.has(node.op)) missing.push(name);
      else stack.push({ node, next: 0 });
    };
    for (const { node } of results) {
      visit(node);
      while (stack.length > 0) {
        const top = stack.at(-1)!;
        const name = top.node.after[top.next++];
        if (name !== undefined) visit(name);
        else order.push(stack.pop()!.node);
      }
    }
    if (missing.length === 0) return order;
    const [requested, from] = [results.map(({ node }) => node), [...fed.keys()]];
    const unknown = requested.find((each) => missing.includes(each) && !topology.nodes.has(each));
    if (unknown !== undefined) {
      throw new LatheError(`The output '${unknown}' is not found in the graph`);
    }
    throw new LatheError(
      `Cannot compute the outputs [${requested.join()}] from the provided inputs [${from.join()}]. ` +
        `Missing the following inputs: [${missing.join()}]`,
    );
  }
}

/** Numbers of elements up to which integers on the host, as of shapes, are computed there. */
const maxOnHost = 64;

/** Whether an operator computes sizes: its operands are few integers that the host has. */
function isOnHost({ values }: Call): boolean {
  if (engine.device.view !== undefined || values.length === 0) return false;
  return values.every(
    (each) =>
      isTensor(each) &&
      each.dtype === 'int32' &&
      each.size <= maxOnHost &&
      unreadIn([each]).length === 0,
  );
}

/** What an operator returns. If it fails, it may have to read operands, and is called once more. */
function* computed(operator: Operator, call: Call): Steps<Value | Value[]> {
  if (isOnHost(call)) return engine.on(defaultDevice, () => operator(call));
  const unread = unreadIn(call.values);
  if (unread.length === 0) return operator(call);
  try {
    return operator(call);
  } catch (error) {
    if (!(yield unread)) throw error;
    return operator(call);
  }
}

/** Error: a large result with many times the elements of the operands, that is, of a size read from values. */
function checkGrowth(call: Call, { size, shape }: Tensor): void {
  const inputElements = call.values.reduce(
    (sum, each) => sum + (isTensor(each) ? 8 * each.size : 0),
    0,
  );
  const where = `graph model: ${call.node.op} "${call.node.name}"`;
  checkCount(where, `elements [${shape.join()}]`, size, Math.max(inputElements, maxElements));
}

/** The tensors in values. */
export const isTensor = (value: Value): value is Tensor => value instanceof Tensor;
