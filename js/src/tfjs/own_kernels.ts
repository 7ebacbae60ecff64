/** What the package computes, as kernels that TensorFlow.js knows by name. */
import { clone, reshape } from '../ops/index.js';
import { tidy } from '../tensor/scopes.js';
import { type Attributes, type Inputs, type Kernel, kernels } from '../tfjs_backend/kernels.js';
import { isOwn } from './backends.js';
import type { KernelConfig } from './kernel_registry.js';

/** What the backend for TensorFlow.js has no kernels for, as it shares elements there. */
const sharing: Record<string, Kernel> = {
  Identity: ({ x }) => clone(x),
  Reshape: ({ x }, { shape }) => reshape(x, shape as number[]),
};

/** Made when somebody asks: programs that do not are left without all operations. */
let all: Map<string, Kernel> | undefined;
const known = (): Map<string, Kernel> =>
  (all ??= new Map(Object.entries({ ...kernels, ...sharing })));

const configOf = (kernelName: string, kernel: Kernel, backendName: string): KernelConfig => ({
  kernelName,
  backendName,
  kernelFunc: (({ inputs, attrs = {} }: { inputs: Inputs; attrs?: Attributes }) =>
    tidy(() => kernel(inputs, attrs))) as unknown as KernelConfig['kernelFunc'],
});

/** The kernel of this name of a backend that is another name of the engine. */
export function ownKernel(kernelName: string, backendName: string): KernelConfig | undefined {
  const kernel = known().get(kernelName);
  return kernel && isOwn(backendName) ? configOf(kernelName, kernel, backendName) : undefined;
}

/** All that such a backend has. */
export const ownKernels = (backendName: string): KernelConfig[] =>
  isOwn(backendName)
    ? [...known()].map(([kernelName, kernel]) => configOf(kernelName, kernel, backendName))
    : [];
