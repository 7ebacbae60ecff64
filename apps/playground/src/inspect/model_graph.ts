// What can be seen of a model: its facts, its graph of operators, and how it is run and timed.

export interface Port {
  name: string;
  type: string;
  /** Numbers, or names of sizes that a call determines. */
  shape: readonly (number | string)[];
}

export interface GraphNode {
  name: string;
  operator: string;
  /** Names of values. */
  inputs: string[];
  outputs: string[];
  /** Number of weights that only this node reads. */
  weights: number;
  /** Shape of its first output, where the file has it. */
  shape?: string;
  /** Attributes and weights, for display. */
  details: [name: string, value: string][];
}

/** Milliseconds of a call, by layer or by group of fused operations. */
export interface PartTime {
  name: string;
  ms: number;
}

export interface ModelGraph {
  name: string;
  facts: [name: string, value: string][];
  inputs: Port[];
  outputs: Port[];
  nodes: GraphNode[];
  /** Names of the classes of its output, where the file has them. */
  labels?: string[];
  /** Runs it on one input; resolves with its first output. Error: it has another kind of input. */
  run(values: Float32Array, shape: readonly number[]): Promise<Float32Array>;
  /** Runs it several times on zeros. Error: its inputs do not allow that. */
  time(): Promise<PartTime[]>;
  dispose(): void;
}

export const shapeText = (shape: readonly (number | string | null)[]) =>
  shape.length === 0 ? 'scalar' : shape.map((size) => size ?? '?').join(' × ');

/** A shape for a call: of named sizes the first one is the batch, others are those of a usual image. */
export const fixedShape = ({ shape }: Port) =>
  shape.map((size, at) => (typeof size === 'number' && size > 0 ? size : at === 0 ? 1 : 224));

/** Runs an action on zeros often enough for a mean; resolves with the number of calls. */
export async function repeat(action: () => unknown): Promise<number> {
  const begin = performance.now();
  let calls = 0;
  while (calls < 2 || (calls < 50 && performance.now() - begin < 1000)) {
    await action();
    calls += 1;
    await new Promise((done) => setTimeout(done));
  }
  return calls;
}
