/** What eager execution knows between two calls. */
import type { OperationName } from '../core/names.js';
import type { Device } from '../runtime/device.js';
import { HeapValue } from '../runtime/heap_value.js';
import type { Tensor } from '../tensor/tensor.js';
import { heapDevice } from '../trace/heap_device.js';
import type { LazyNode } from './graph/lazy_nodes.js';
import { PlanRunner } from './plan/plan_runner.js';
import { SignatureTable, type ValueType } from './graph/signature.js';
import { Tape } from './graph/tape.js';

/** An automatic seed of a traced function. */
export interface Seed {
  /** The seed during the trace, retained. */
  readonly value: HeapValue;
  /** A new seed for a call; with `count` as many, along a first axis. */
  readonly next: (count?: number) => Tensor;
}

/** What a function creates while it is traced: automatic seeds, and variables by their initial values, all retained. */
export interface TraceInProgress {
  readonly seeds: Seed[];
  readonly variables: Map<HeapValue, Tensor>;
}

/** Called after every operation, for debugging. */
export type Watcher = (
  op: OperationName,
  operands: readonly (Tensor | number)[],
  result: Tensor,
) => void;

/**
 * The state of eager execution that outlives a call; no other file of this folder has any. A pending value is computed by
 * the engine that recorded it. A field is written only by the file that its comment names, if any, and read by all.
 */
export class EagerEngine {
  /** Result types of operations. */
  readonly signatures = new SignatureTable();
  /** Recordings of gradients. */
  readonly tape = new Tape();
  /** Nodes up to this id are constants to the function that is being differentiated. Written by backward.ts. */
  tapeStart = 0;
  /** Computes pending values: caches of modules, and what is compiled in the background. */
  readonly plans: PlanRunner;
  /** Live variables by name. Written by variable.ts. */
  readonly variables = new Map<string, Tensor>();
  /** The number of variables named automatically. Written by variable.ts. */
  unnamedVariables = 0;
  /** Previous values of variables, for each function that is being differentiated. Written by variable.ts. */
  readonly histories: Map<Tensor, HeapValue[]>[] = [];
  /** The innermost function that is being traced. Written by function_trace.ts. */
  trace: TraceInProgress | undefined;
  /** Groups of gradients that tensors reference and nobody has read, oldest first. Written by gradients.ts. */
  unreadGradients: (readonly HeapValue[])[] = [];
  /** Results of a training step that is compiled in the background, and when. Written by background_compute.ts. */
  stepResults: readonly HeapValue[] = [];
  stepComputed: Promise<void> | undefined;
  /** Sees every result. Written by tfjs/operation_observers.ts. */
  watcher: Watcher | undefined;

  constructor(device: Device) {
    this.plans = new PlanRunner(device, this.tape);
  }

  /** A pending value of a node, for one tensor. */
  lazyValue({ dtype, shape }: Pick<ValueType, 'dtype' | 'shape'>, node: LazyNode): HeapValue {
    return new HeapValue(dtype, shape, node, this.plans);
  }
}

/** The engine of all tensors of the page or process. */
export const engine = /* @__PURE__ */ new EagerEngine(heapDevice);
