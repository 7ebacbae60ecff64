/** What eager execution knows between two calls. */
import { LatheError } from '../base/errors.js';
import type { OperationName } from '../core/names.js';
import { defaultDevice } from '../devices/registry.js';
import type { Device } from '../runtime/device.js';
import { DeviceValue } from '../runtime/device_value.js';
import { trackElements } from '../tensor/live_tensors.js';
import { elements, type Tensor } from '../tensor/tensor.js';
import { isPending, type LazyNode } from './graph/lazy_nodes.js';
import { PlanRunner } from './plan/plan_runner.js';
import { SignatureTable, type ValueType } from './graph/signature.js';
import { Tape } from './graph/tape.js';

/** An automatic seed of a traced function. */
export interface Seed {
  /** The seed during the trace, retained. */
  readonly value: DeviceValue;
  /** A new seed for a call; with `count` as many, along a first axis. */
  readonly next: (count?: number) => Tensor;
}

/** What a function creates while it is traced: automatic seeds, and variables by their initial values, all retained. */
export interface TraceInProgress {
  readonly seeds: Seed[];
  readonly variables: Map<DeviceValue, Tensor>;
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
  /** Computes what is recorded from now on; changed by `use` and `on`. */
  device: Device;
  /** Computes pending values of the device: caches of modules, and what is compiled in the background. Changed by `use` and `on`. */
  plans: PlanRunner;
  /** Those of all devices that have been used. */
  readonly #plans = new Map<Device, PlanRunner>();
  /** Whether tensors on another device move to that of the operation; otherwise that is an error. Set by tfjs.ts. */
  movesTensors = false;
  /** Live variables by name. Written by variable.ts. */
  readonly variables = new Map<string, Tensor>();
  /** The number of variables named automatically. Written by variable.ts. */
  unnamedVariables = 0;
  /** Previous values of variables, for each function that is being differentiated. Written by variable.ts. */
  readonly histories: Map<Tensor, DeviceValue[]>[] = [];
  /** The innermost function that is being traced. Written by function_trace.ts. */
  trace: TraceInProgress | undefined;
  /** Groups of gradients that tensors reference and nobody has read, oldest first. Written by gradients.ts. */
  unreadGradients: (readonly DeviceValue[])[] = [];
  /** Results of a training step that is compiled in the background, and when. Written by background_compute.ts. */
  stepResults: readonly DeviceValue[] = [];
  stepComputed: Promise<void> | undefined;
  /** Sees every result. Written by tfjs/operation_observers.ts. */
  watcher: Watcher | undefined;

  constructor(device: Device) {
    this.device = device;
    this.plans = this.#plansOf(device);
  }

  /** Changes the device. Error: while gradients or functions are recorded. */
  use(device: Device): void {
    if (device === this.device) return;
    if (this.tape.isRecording || this.trace !== undefined) {
      throw new LatheError('setDevice: not while gradients or functions are recorded');
    }
    const { parametrize } = this.plans;
    this.plans.compute(this.stepResults.filter(isPending));
    this.stepResults = [];
    this.unreadGradients = [];
    this.device = device;
    this.plans = this.#plansOf(device);
    this.plans.parametrize = parametrize;
  }

  /** Records on another device what an action does. */
  on<T>(device: Device, action: () => T): T {
    const { device: before, plans } = this;
    this.device = device;
    this.plans = this.#plansOf(device);
    try {
      return action();
    } finally {
      this.device = before;
      this.plans = plans;
    }
  }

  #plansOf(device: Device): PlanRunner {
    let plans = this.#plans.get(device);
    if (plans === undefined) this.#plans.set(device, (plans = new PlanRunner(device, this.tape)));
    return plans;
  }

  /** A pending value of a node, for one tensor. */
  lazyValue({ dtype, shape }: Pick<ValueType, 'dtype' | 'shape'>, node: LazyNode): DeviceValue {
    return new DeviceValue(dtype, shape, this.device, node, this.plans);
  }

  /**
   * The value of a tensor on the device; elements on the host move there. Errors: they are on another device, or cannot be
   * moved from it without waiting; a dtype that the core does not have.
   */
  valueOf(x: Tensor): DeviceValue {
    const { device } = this;
    const value = DeviceValue.of(x, device);
    if (value.device === device) return value;
    return this.movesTensors ? moveTo(device, x, value) : value.on(device);
  }
}

/** Moves the elements of a tensor to another device. Error: they are not on the host, and their device cannot wait. */
export function moveTo(device: Device, x: Tensor, value: DeviceValue): DeviceValue {
  const moved = DeviceValue.from(value.readSync(), value, device);
  // The parts of complex tensors do not count in `memory`: such a tensor retains its elements, and the copy is temporary.
  if (value.isHidden) return moved;
  x[elements] = moved;
  if (!value.free()) trackElements(x);
  return moved;
}

/** The engine of all tensors of the page or process. */
export const engine = /* @__PURE__ */ new EagerEngine(defaultDevice);

/** The value of a tensor on its device, as `EagerEngine.valueOf`. */
export const valueOf = (x: Tensor): DeviceValue => engine.valueOf(x);
