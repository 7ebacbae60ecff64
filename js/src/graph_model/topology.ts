/** The TensorFlow graphs in model.json: nodes, their inputs and attributes, functions (tensorflow/core/framework/graph.proto). */
import { LatheError } from '../base/errors.js';
import { checkDepth } from '../base/limits.js';
import { entryOf } from '../base/records.js';
import { TextDecoder } from '../base/text.js';
import { isObject } from '../io/artifacts.js';

/** The source of an edge: an output of a node, or an argument of a function. */
export interface Source {
  readonly node: string;
  /** In functions: the name of the output that `index` refers to. */
  readonly port?: string | undefined;
  readonly index: number;
}

export interface GraphNode {
  readonly name: string;
  readonly op: string;
  readonly inputs: readonly Source[];
  /** Names of the nodes that must run before: data inputs and control inputs ("^name"). */
  readonly after: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Nodes by name, and the outputs of the graph. */
export interface Topology {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** Of functions: names of the arguments and sources of the results, in order. */
  readonly arguments: readonly string[];
  readonly results: readonly Source[];
}

/** Parses the graph of a model and its functions. Errors: malformed graphs. */
export interface ModelGraph {
  readonly main: Topology;
  readonly functions: ReadonlyMap<string, Topology>;
}

const decoder = new TextDecoder();

export function readGraph(topology: unknown): ModelGraph {
  if (!isObject(topology) || !Array.isArray(topology.node)) {
    throw new LatheError('graph model: modelTopology has no nodes');
  }
  const main = { nodes: readNodes(topology.node), arguments: [], results: [] };
  const library = isObject(topology.library) ? topology.library.function : undefined;
  const functions = new Map<string, Topology>();
  for (const each of Array.isArray(library) ? library : []) {
    const [name, read] = readFunction(each as FunctionDef);
    functions.set(name, read);
  }
  return { main, functions };
}

interface FunctionDef {
  signature: { name: string; inputArg?: { name: string }[]; outputArg?: { name: string }[] };
  nodeDef?: unknown[];
  ret: Record<string, string>;
}

function readFunction({ signature, nodeDef = [], ret }: FunctionDef): [string, Topology] {
  const results = (signature.outputArg ?? []).map(({ name }) => sourceOf(entryOf(ret, name)!));
  const names = (signature.inputArg ?? []).map(({ name }) => name);
  return [signature.name, { nodes: readNodes(nodeDef), arguments: names, results }];
}

function readNodes(list: readonly unknown[]): Map<string, GraphNode> {
  const nodes = new Map<string, GraphNode>();
  for (const each of list) {
    const { name, op, input, attr } = each as Record<string, unknown>;
    const texts = (input ?? []) as string[];
    if (typeof name !== 'string' || typeof op !== 'string' || !Array.isArray(texts)) {
      throw new LatheError('graph model: a node has no name, no op or no list of inputs');
    }
    const inputs = texts.filter((source) => !source.startsWith('^')).map(sourceOf);
    const after = texts.map((source) => sourceOf(source.replace('^', '')).node);
    const attributes = Object.fromEntries(
      Object.entries(attr ?? {}).map(([key, value]) => [key, readAttribute(value)]),
    );
    nodes.set(name, { name, op, inputs, after, attributes });
  }
  return nodes;
}

/** Parses "node", "node:index", and in functions "node:port:index". */
export function sourceOf(text: string): Source {
  const [node = '', ...rest] = text.split(':');
  if (rest.length === 0) return { node, index: 0 };
  const index = Number(rest.at(-1));
  return { node, index, port: rest.length > 1 ? rest[0] : undefined };
}

/** Element types by their TensorFlow names. */
const types: Record<string, string> = {
  DT_FLOAT: 'float32',
  DT_HALF: 'float32',
  DT_DOUBLE: 'float32',
  DT_BFLOAT16: 'float32',
  DT_INT32: 'int32',
  DT_INT64: 'int32',
  DT_INT16: 'int32',
  DT_INT8: 'int32',
  DT_UINT8: 'int32',
  DT_UINT16: 'int32',
  DT_UINT32: 'int32',
  DT_UINT64: 'int32',
  DT_BOOL: 'bool',
  DT_STRING: 'string',
  DT_COMPLEX64: 'complex64',
  DT_COMPLEX128: 'complex64',
};
const typeNumbers: Record<number, string> = {
  1: 'DT_FLOAT',
  2: 'DT_DOUBLE',
  3: 'DT_INT32',
  4: 'DT_UINT8',
  6: 'DT_INT8',
  7: 'DT_STRING',
  8: 'DT_COMPLEX64',
  9: 'DT_INT64',
  10: 'DT_BOOL',
};

/** The dtype of a TensorFlow type name or number; undefined for resources and variants. */
export function dtypeNamed(type: unknown): string | undefined {
  return entryOf(types, typeof type === 'number' ? (typeNumbers[type] ?? '') : String(type));
}

/** Decodes strings, which JSON has as base64 bytes. */
function text(value: unknown): string {
  if (Array.isArray(value)) return decoder.decode(Uint8Array.from(value as number[]));
  const binary = atob(String(value).replace(/-/g, '+').replace(/_/g, '/'));
  return decoder.decode(Uint8Array.from(binary, (letter) => letter.charCodeAt(0)));
}

/** A shape; undefined for an unknown rank, -1 for unknown sizes. */
export function shapeOf(value: unknown): number[] | undefined {
  if (!isObject(value) || value.unknownRank === true) return undefined;
  const dims = (value.dim ?? []) as { size?: unknown }[];
  return dims.map(({ size }) => Number(size ?? 0));
}

/** Decodes an AttrValue: a number, string, bool, dtype name, shape, function name, or a list of them. */
function readAttribute(value: unknown, depth = 0): unknown {
  checkDepth('graph model: an attribute', depth);
  if (!isObject(value)) return undefined;
  const [kind, content] = Object.entries(value).find(([key]) => key !== 'placeholder') ?? [];
  switch (kind) {
    case 'i':
    case 'f':
      return Number(content);
    case 'b':
      return Boolean(content);
    case 's':
      return text(content);
    case 'type':
      return dtypeNamed(content);
    case 'shape':
      return shapeOf(content);
    case 'func':
      return (content as { name: string }).name;
    case 'list':
      return readList(content, depth + 1);
    default:
      return undefined;
  }
}

function readList(list: unknown, depth: number): unknown[] {
  if (!isObject(list)) return [];
  for (const [kind, values] of Object.entries(list)) {
    if (!Array.isArray(values) || values.length === 0) continue;
    return values.map((each: unknown) => readAttribute({ [kind]: each }, depth));
  }
  return [];
}
