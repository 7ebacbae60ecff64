/**
 * Custom kernels and gradients, by the names of TensorFlow.js. The operations of the package use none of
 * them; they serve programs with a custom backend or operation.
 */
import { LatheError } from '../../base/errors.js';
import { warn } from '../backend/constants.js';
import { env } from '../platform/environment.js';
import { engineKernel, engineKernels } from './engine_kernels.js';
import type { KernelConfig, NamedAttrMap } from './kernel_config.js';

export type GradFunc = (dy: any, saved: any[], attrs: NamedAttrMap) => Record<string, () => any>;

/** The gradient of an operation, and which of its inputs and outputs it requires. */
export interface GradConfig {
  kernelName: string;
  inputsToSave?: string[];
  saveAllInputs?: boolean;
  outputsToSave?: boolean[];
  gradFunc: GradFunc;
}

// Global, so that it is shared if this module is loaded twice.
const shared = <T>(name: string): Map<string, T> => {
  const all = globalThis as unknown as Record<symbol, Map<string, T> | undefined>;
  return (all[Symbol.for(`tensorlathe.${name}`)] ??= new Map());
};
const kernels = /* @__PURE__ */ shared<KernelConfig>('kernels');
const gradients = /* @__PURE__ */ shared<GradConfig>('gradients');

const keyOf = (kernel: string, backend: string) => `${backend}_${kernel}`;

/** The registered kernel of a backend, else that of the package. */
export const getKernel = (kernelName: string, backendName: string): KernelConfig | undefined =>
  kernels.get(keyOf(kernelName, backendName)) ?? engineKernel(kernelName, backendName);

export const getGradient = (kernelName: string): GradConfig | undefined =>
  gradients.get(kernelName);

/** The registered kernels of a backend, and those of the package. */
export function getKernelsForBackend(backendName: string): KernelConfig[] {
  const registered = [...kernels.values()].filter((each) => each.backendName === backendName);
  const isFree = ({ kernelName }: KernelConfig) => !kernels.has(keyOf(kernelName, backendName));
  return [...registered, ...engineKernels(backendName).filter(isFree)];
}

/** Registers a kernel; replaces one of the same name with a warning. */
export function registerKernel(config: KernelConfig): void {
  const { kernelName, backendName } = config;
  const key = keyOf(kernelName, backendName);
  if (kernels.has(key))
    warn(`The kernel '${kernelName}' for backend '${backendName}' is already registered`);
  kernels.set(key, config);
}

/** Registers a gradient; replaces one of the same name. */
export function registerGradient(config: GradConfig): void {
  const { kernelName } = config;
  if (gradients.has(kernelName) && env().getBool('DEBUG'))
    warn(`Overriding the gradient for '${kernelName}'`);
  gradients.set(kernelName, config);
}

/** Error: not registered. */
export function unregisterKernel(kernelName: string, backendName: string): void {
  if (kernels.delete(keyOf(kernelName, backendName))) return;
  throw new LatheError(`The kernel '${kernelName}' for backend '${backendName}' is not registered`);
}

/** Error: not registered. */
export function unregisterGradient(kernelName: string): void {
  if (gradients.delete(kernelName)) return;
  throw new LatheError(`The gradient '${kernelName}' for backend is not registered`);
}

/** Copies the kernels of one backend to another. */
export function copyRegisteredKernels(registeredBackendName: string, newBackendName: string): void {
  for (const config of getKernelsForBackend(registeredBackendName)) {
    registerKernel({ ...config, backendName: newBackendName });
  }
}
