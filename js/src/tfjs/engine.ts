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
import * as backends from './backends.js';
import { memory } from './memory.js';
import { profile, time } from './profile.js';
import { runKernel } from './run_kernel.js';

let lastId = 0;

const theEngine = {
  get backend() {
    return backends.backend();
  },
  get backendName() {
    return backends.getBackend();
  },
  /** The variables that are alive, by name. */
  get registeredVariables(): Record<string, Variable> {
    return Object.fromEntries(variables);
  },
  /** How many tensors there are, and what they take. */
  get state() {
    return { ...tensorCounts(), numVariables: variables.size };
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
  keep,
  customGrad,
  runKernel,
  memory,
  profile,
  time,
  disposeVariables,
  makeVariable: variable,
  disposeTensor: (x: Tensor): void => x.dispose(),
  disposeVariable: (x: Variable): void => x.dispose(),
  nextTensorId: (): number => lastId++,
  /** Disposes of variables, leaves all scopes, begins to count tensors anew, and forgets which backend is set. */
  reset(): void {
    disposeVariables();
    resetScopes();
    backends.resetBackends();
  },
};

/** The engine of this page. */
export const engine = (): typeof theEngine => theEngine;
