/** `engine().runKernel` of TensorFlow.js: operations by kernel name, and custom kernels. */
import { LatheError } from '../../base/errors.js';
import { customGrad, type GradSaver } from '../../eager/autodiff/gradients.js';
import { tidy } from '../../tensor/scopes.js';
import { Tensor } from '../../tensor/tensor.js';
import type { Attributes } from '../../tfjs_backend/kernels.js';
import { backend, getBackend, engineName } from './backends.js';
import type { KernelConfig, NamedTensorInfoMap } from './kernel_config.js';
import { getGradient, getKernel, type GradConfig } from './kernel_registry.js';
import { engineKernel } from './engine_kernels.js';

/** Tensors by input name. */
type Inputs = Record<string, Tensor>;

/**
 * Runs a kernel: the one registered for the current backend, else the operation of the name.
 * Errors: neither exists; a registered one returns something other than tensors.
 */
export function runKernel<T extends Tensor | Tensor[] = Tensor>(
  kernelName: string,
  inputs: Inputs | Tensor[],
  attrs: Attributes = {},
): T {
  const namedInputs = inputs as Inputs;
  const kernel = getKernel(kernelName, getBackend()) ?? engineKernel(kernelName, engineName);
  if (kernel !== undefined) return runRegistered(kernel, namedInputs, attrs) as T;
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
  throw new LatheError(`the kernel '${kernelName}' must return tensors: there is no other backend`);
}

/** Runs a kernel with its registered gradient. Error: several outputs. */
function withGradient(
  { kernelName, gradFunc, inputsToSave = [], saveAllInputs, outputsToSave = [] }: GradConfig,
  inputs: Inputs,
  attrs: Attributes,
  run: () => Tensor | Tensor[],
): Tensor {
  const names = Object.keys(inputs);
  const savedInputs = (saveAllInputs ? names : inputsToSave).map((name) => inputs[name]!);
  return customGrad((...namedInputs: [...Tensor[], GradSaver]) => {
    const value = run();
    if (Array.isArray(value)) {
      throw new LatheError(`the gradient of '${kernelName}': there is none of several results`);
    }
    (namedInputs.at(-1) as GradSaver)(outputsToSave[0] ? [...savedInputs, value] : savedInputs);
    return {
      value,
      gradFunc: (dy: Tensor, saved: Tensor[]) => {
        const found = gradFunc(dy, saved, attrs);
        return names.map((name) => found[name]!() as Tensor);
      },
    };
  })(...names.map((name) => inputs[name]!));
}
