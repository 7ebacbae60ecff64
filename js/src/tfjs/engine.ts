/** `engine()` of TensorFlow.js: what programs use of it. */
import { customGrad } from '../eager/gradients.js';
import { disposeVariables, type Variable, variable, variables } from '../eager/variable.js';
import {
  endScope,
  keep,
  resetScopes,
  startScope,
  tensorCounts,
  type TensorContainer,
  tidy,
} from '../tensor/scopes.js';
import type { Tensor } from '../tensor/tensor.js';
import { clone } from '../ops/index.js';
import * as backends from './backends.js';
import { ENV } from './environment.js';
import { memory } from './memory.js';
import { profile, time } from './profile.js';
import { runKernel } from './run_kernel.js';
import { tensor } from './tensors.js';

let lastId = 0;
let lastVariable = 0;

/** The variables that are alive, by name, as they are whenever it is asked. */
const registeredVariables = /* @__PURE__ */ new Proxy<Record<string, Variable>>(
  {},
  {
    get: (_, name) => variables.get(name as string),
    has: (_, name) => variables.has(name as string),
    ownKeys: () => [...variables.keys()],
    getOwnPropertyDescriptor(_, name) {
      const value = variables.get(name as string);
      return value && { value, writable: true, enumerable: true, configurable: true };
    },
    deleteProperty: (_, name) => (variables.delete(name as string), true),
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
  /** What makes backends, by their names. */
  get registryFactory() {
    return backends.registryFactory();
  },
  ENV,
  registeredVariables,
  /** How many tensors there are, and what they take. */
  get state() {
    return { ...tensorCounts(), numVariables: variables.size, registeredVariables };
  },
  ready: backends.ready,
  backendNames: backends.backendNames,
  findBackend: backends.findBackend,
  findBackendFactory: backends.findBackendFactory,
  registerBackend: backends.registerBackend,
  removeBackend: backends.removeBackend,
  setBackend: backends.setBackend,
  /** What is made from now on belongs to a new scope. */
  startScope: (_name?: string): void => startScope(),
  /** Disposes of what the scope made, but for what is kept and what `result` holds. */
  endScope: (result?: TensorContainer): void => endScope(result),
  tidy,
  /** Calls the three in turn; the second one also where the third throws. */
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
  /** Disposes of variables, leaves all scopes, begins to count tensors anew, and forgets which backend is set. */
  reset(): void {
    disposeVariables();
    resetScopes();
    backends.resetBackends();
  },
};

/** The engine of this page. */
export const engine = (): typeof theEngine => theEngine;
