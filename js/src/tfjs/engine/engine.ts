/** `engine()` of TensorFlow.js: the members that programs use. */
import { customGrad } from '../../eager/autodiff/gradients.js';
import { disposeVariables, type Variable, variable, variables } from '../../eager/variable.js';
import {
  endScope,
  resetScopes,
  startScope,
  tensorCounts,
  type TensorContainer,
} from '../../tensor/live_tensors.js';
import { keep, tidy } from '../../tensor/scopes.js';
import type { Tensor } from '../../tensor/tensor.js';
import { clone } from '../../ops/index.js';
import * as backends from './backends.js';
import { ENV } from '../platform/environment.js';
import { memory } from './memory.js';
import { profile, time } from './profile.js';
import { runKernel } from './run_kernel.js';
import { tensor } from './tensors.js';

let lastId = 0;
let lastVariable = 0;

/** A live view of the registered variables by name. */
const registeredVariables = /* @__PURE__ */ new Proxy<Record<string, Variable>>(
  {},
  {
    get: (_, name) => variables().get(name as string),
    has: (_, name) => variables().has(name as string),
    ownKeys: () => [...variables().keys()],
    getOwnPropertyDescriptor(_, name) {
      const value = variables().get(name as string);
      return value && { value, writable: true, enumerable: true, configurable: true };
    },
    deleteProperty: (_, name) => (variables().delete(name as string), true),
  },
);

const theEngine = {
  get backend() {
    return backends.backend();
  },
  get backendName() {
    return backends.getBackend();
  },
  /** The backends that are ready, by name. */
  get registry() {
    return backends.registry();
  },
  /** The backend factories, by name. */
  get registryFactory() {
    return backends.registryFactory();
  },
  ENV,
  registeredVariables,
  /** The number of tensors and their bytes. */
  get state() {
    return { ...tensorCounts(), numVariables: variables().size, registeredVariables };
  },
  ready: backends.ready,
  backendNames: backends.backendNames,
  findBackend: backends.findBackend,
  findBackendFactory: backends.findBackendFactory,
  registerBackend: backends.registerBackend,
  removeBackend: backends.removeBackend,
  setBackend: backends.setBackend,
  /** Opens a new scope for tensors. */
  startScope: (_name?: string): void => startScope(),
  /** Disposes of the tensors of the scope, except kept ones and those in `result`. */
  endScope: (result?: TensorContainer): void => endScope(result),
  tidy,
  /** Calls `start`, `action` and `end`; `end` also if `action` throws. */
  scopedRun<T>(start: () => void, end: () => void, action: () => T): T {
    start();
    try {
      return action();
    } finally {
      end();
    }
  },
  keep,
  clone,
  customGrad,
  runKernel,
  memory,
  profile,
  time,
  disposeVariables,
  /** As `tensor`. */
  makeTensor: tensor,
  makeVariable: variable,
  disposeTensor: (x: Tensor): void => x.dispose(),
  disposeVariable: (x: Variable): void => x.dispose(),
  nextTensorId: (): number => lastId++,
  nextVariableId: (): number => lastVariable++,
  /** Disposes of variables, leaves all scopes, and resets the tensor counts and the current backend. */
  reset(): void {
    disposeVariables();
    resetScopes();
    backends.resetBackends();
  },
};

/** The engine of this page. */
export const engine = (): typeof theEngine => theEngine;
