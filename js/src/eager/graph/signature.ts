/** Result types of operations, requested from the core once for each combination of operand types and arguments. */
import { LatheError } from '../../base/errors.js';
import { CoreGraph } from '../../core/handles.js';
import type { OperationName } from '../../core/names.js';
import { coreDTypes, type DType } from '../../tensor/dtypes.js';
import { entryName } from '../../trace/trace_graph.js';
import { Trace, type TracedTensor } from '../../trace/trace.js';

/** An operation with the types of its operands and result. */
export interface Signature {
  readonly id: number;
  readonly op: OperationName;
  /** The arguments after the tensors. */
  readonly values: readonly unknown[];
  readonly inputs: readonly ValueType[];
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** "float32 [2,3]" of the result. */
  readonly type: string;
}

export interface ValueType {
  readonly shape: readonly number[];
  readonly dtype: DType;
  /** "float32 [2,3]". */
  readonly type: string;
}

/** A type with its string. */
export const valueType = (shape: readonly number[], dtype: DType): ValueType => ({
  shape,
  dtype,
  type: `${dtype} [${shape.join(',')}]`,
});

/** A trie of signatures: by operation, operand types, then arguments. */
interface TrieNode {
  signature?: Signature;
  next?: Map<unknown, TrieNode>;
}

/** The child for a part of the key: short existing strings are cheaper than building one long key. */
function child(at: TrieNode, key: unknown): TrieNode {
  const next = (at.next ??= new Map());
  let found = next.get(key);
  if (found === undefined) next.set(key, (found = {}));
  return found;
}

/** Lists are prefixed by their length, so that different arguments have different paths. */
function argumentChild(at: TrieNode, value: unknown): TrieNode {
  if (Array.isArray(value)) {
    at = child(at, `[${value.length}`);
    for (const each of value) at = argumentChild(at, each);
    return at;
  }
  if (typeof value === 'string') return child(at, `"${value}`);
  return child(at, Object.is(value, -0) ? '-0' : value);
}

/** A table of more signatures is cleared: a program that slices at ever new offsets has a new one for each. */
const maxSignatures = 10000;

/** The signatures requested so far. */
export class SignatureTable {
  #root: TrieNode = {};
  #lastId = 0;
  readonly #scalars: Partial<Record<DType, ValueType>> = {};

  /** Error: that of the core, with the operation's name and the types. */
  of(op: OperationName, inputs: readonly ValueType[], values: readonly unknown[]): Signature {
    let at = child(this.#root, op);
    for (const { type } of inputs) at = child(at, type);
    for (const each of values) at = argumentChild(at, each);
    if (at.signature !== undefined) return at.signature;
    if (++this.#lastId % maxSignatures === 0) this.#root = {};
    return (at.signature = requestSignature(this.#lastId, op, inputs, values));
  }

  /** The type of a scalar: one object per dtype. */
  scalar(dtype: DType): ValueType {
    return (this.#scalars[dtype] ??= valueType([], dtype));
  }
}

function requestSignature(
  id: number,
  op: OperationName,
  inputs: readonly ValueType[],
  values: readonly unknown[],
): Signature {
  const unsupported = inputs.find(({ dtype }) => !Object.hasOwn(coreDTypes, dtype));
  if (unsupported !== undefined)
    throw new LatheError(`${op}: tensors of ${unsupported.dtype} are not supported`);
  return withTrace(inputs, (operands, trace) => {
    const { shape, dtype } = trace.apply(op, operands, [...values]);
    const types = inputs.map(({ shape, dtype, type }) => ({ shape, dtype, type }));
    return { id, op, values: values.map(copied), inputs: types, ...valueType(shape, dtype) };
  });
}

/** The result of `write`, which traces a function of inputs of these types into a temporary graph. */
export function withTrace<T>(
  types: readonly ValueType[],
  write: (inputs: TracedTensor[], trace: Trace, graph: CoreGraph) => T,
): T {
  const graph = new CoreGraph();
  try {
    graph.beginEntry(entryName);
    const trace = new Trace(graph);
    const inputs = types.map(({ shape, dtype }, at) => trace.input(`x${at}`, shape, dtype));
    return write(inputs, trace, graph);
  } finally {
    graph.free();
  }
}

/** A copy: the program may change its lists later. */
const copied = (value: unknown): unknown => (Array.isArray(value) ? value.map(copied) : value);
