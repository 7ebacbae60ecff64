/** The operations of the package as TensorFlow.js kernels. */
import { clone, reshape } from '../../ops/index.js';
import { tidy } from '../../tensor/scopes.js';
import type { Inputs } from '../../tfjs_backend/inputs.js';
import { type Attributes, type Kernel, kernels } from '../../tfjs_backend/kernels.js';
import { isEngineName } from './backends.js';
import type { KernelConfig } from './kernel_config.js';

/** Kernels that the TensorFlow.js backend implements by sharing data instead. */
const sharing: Record<string, Kernel> = {
  Identity: ({ x }) => clone(x),
  Reshape: ({ x }, { shape }) => reshape(x, shape as number[]),
};

/** Created on first use, so that programs without kernels can drop the operations. */
let all: Map<string, Kernel> | undefined;
const allKernels = (): Map<string, Kernel> =>
  (all ??= new Map(Object.entries({ ...kernels(), ...sharing })));

const configOf = (kernelName: string, kernel: Kernel, backendName: string): KernelConfig => ({
  kernelName,
  backendName,
  kernelFunc: (({ inputs, attrs = {} }: { inputs: Inputs; attrs?: Attributes }) =>
    tidy(() => kernel(inputs, attrs))) as unknown as KernelConfig['kernelFunc'],
});

/** The kernel of this name, if the backend is an alias of the engine. */
export function engineKernel(kernelName: string, backendName: string): KernelConfig | undefined {
  const kernel = allKernels().get(kernelName);
  return kernel && isEngineName(backendName)
    ? configOf(kernelName, kernel, backendName)
    : undefined;
}

/** All kernels, if the backend is an alias of the engine. */
export const engineKernels = (backendName: string): KernelConfig[] =>
  isEngineName(backendName)
    ? [...allKernels()].map(([kernelName, kernel]) => configOf(kernelName, kernel, backendName))
    : [];
