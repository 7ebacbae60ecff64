/** `engine().runKernel` of TensorFlow.js: operations by the names of kernels, and those that programs registered. */
import { LatheError } from '../base/errors.js';
import { customGrad, type GradSaver } from '../eager/gradients.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';
import type { Attributes } from '../tfjs_backend/kernels.js';
import { backend, getBackend, own } from './backends.js';
import {
  getGradient,
  getKernel,
  type GradConfig,
  type KernelConfig,
  type NamedTensorInfoMap,
} from './kernel_registry.js';
import { ownKernel } from './own_kernels.js';

/** Tensors by the names of a kernel's inputs. */
type Inputs = Record<string, Tensor>;

/**
 * What the kernel gives for these: the one that was registered for the backend that is set, else the operation of the name.
 * Errors: there is neither; a registered one gives something else than tensors.
 */
export function runKernel<T extends Tensor | Tensor[] = Tensor>(
  kernelName: string,
  inputs: Inputs | Tensor[],
  attrs: Attributes = {},
): T {
  const given = inputs as Inputs;
  const kernel = getKernel(kernelName, getBackend()) ?? ownKernel(kernelName, own);
  if (kernel !== undefined) return runRegistered(kernel, given, attrs) as T;
  throw new LatheError(`Kernel '${kernelName}' not registered for backend '${getBackend()}'`);
}

function runRegistered(
  { kernelName, kernelFunc }: KernelConfig,
  inputs: Inputs,
  attrs: Attributes,
): Tensor | Tensor[] {
  const params = { inputs: inputs as unknown as NamedTensorInfoMap, attrs, backend: backend() };
  const run = () => tidy(() => ofTensors(kernelName, kernelFunc(params)));
  const gradient = getGradient(kernelName);
  return gradient === undefined ? run() : withGradient(gradient, inputs, attrs, run);
}

function ofTensors(kernelName: string, found: unknown): Tensor | Tensor[] {
  if ([found].flat().every((each) => each instanceof Tensor)) return found as Tensor | Tensor[];
  throw new LatheError(`the kernel '${kernelName}' must give tensors: there is no other backend`);
}

/** The result of a kernel with the gradient that was registered for it. Error: it has several. */
function withGradient(
  { kernelName, gradFunc, inputsToSave = [], saveAllInputs, outputsToSave = [] }: GradConfig,
  inputs: Inputs,
  attrs: Attributes,
  run: () => Tensor | Tensor[],
): Tensor {
  const names = Object.keys(inputs);
  const kept = (saveAllInputs ? names : inputsToSave).map((name) => inputs[name]!);
  return customGrad((...given: [...Tensor[], GradSaver]) => {
    const value = run();
    if (Array.isArray(value)) {
      throw new LatheError(`the gradient of '${kernelName}': there is none of several results`);
    }
    (given.at(-1) as GradSaver)(outputsToSave[0] ? [...kept, value] : kept);
    return {
      value,
      gradFunc: (dy: Tensor, saved: Tensor[]) => {
        const found = gradFunc(dy, saved, attrs);
        return names.map((name) => found[name]!() as Tensor);
      },
    };
  })(...names.map((name) => inputs[name]!));
}
