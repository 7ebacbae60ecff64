/**
 * Registers us as the backend "lathe" of an unmodified TensorFlow.js:
 *
 *     import * as tf from '@tensorflow/tfjs';
 *     import 'tensorlathe/tfjs-backend';
 *     await tf.setBackend('lathe');
 *
 * @module tensorlathe/tfjs-backend
 */
import { KernelBackend, registerBackend, registerKernel } from '@tensorflow/tfjs-core';
import type { Tensor } from './tensor/tensor.js';
import { tidy } from './tensor/scopes.js';
import { ready } from './model/ready.js';
import { clone } from './ops/index.js';
import { inferFromImplicitShape } from './shapes/shapes.js';
import { LatheBackend, type TensorInfo } from './tfjs_backend/backend.js';
import { type Attributes, kernels } from './tfjs_backend/kernels.js';
import './index.js';

/** Above WebAssembly and WebGL, so that it is taken when nobody says another one. */
const priority = 4;

registerBackend(
  'lathe',
  async () => {
    await ready();
    const backend = new LatheBackend();
    // TensorFlow.js asks whether a backend is one of its own class.
    Object.setPrototypeOf(LatheBackend.prototype, KernelBackend.prototype);
    return backend as unknown as KernelBackend;
  },
  priority,
);

/** Kernels that give the elements of their input as they are, with its name. */
const shared: Record<string, (x: TensorInfo, attributes: Attributes) => number[]> = {
  Identity: ({ shape }) => shape,
  Reshape: ({ shape }, attributes) => {
    const size = shape.reduce((product, each) => product * each, 1);
    return inferFromImplicitShape(attributes.shape as number[], size);
  },
};

for (const [kernelName, shapeOf] of Object.entries(shared)) {
  registerKernel({
    kernelName,
    backendName: 'lathe',
    kernelFunc({ inputs, attrs, backend }) {
      const x = inputs.x as TensorInfo;
      const shape = shapeOf(x, (attrs ?? {}) as Attributes);
      (backend as LatheBackend).incRef(x.dataId);
      return { dataId: x.dataId, shape, dtype: x.dtype };
    },
  });
}

for (const [kernelName, kernel] of Object.entries(kernels)) {
  registerKernel({
    kernelName,
    backendName: 'lathe',
    kernelFunc({ inputs, attrs, backend }) {
      const own = backend as unknown as LatheBackend;
      const results = tidy(() => {
        const given: Record<string, Tensor> = {};
        for (const [name, each] of Object.entries(inputs)) {
          if (each === undefined || each === null) continue;
          given[name] = (
            Array.isArray(each)
              ? each.map((one: TensorInfo) => own.tensorOf(one))
              : own.tensorOf(each as TensorInfo)
          ) as Tensor;
        }
        const found = kernel(given, (attrs ?? {}) as Attributes);
        const isGiven = (each: Tensor) => Object.values(given).includes(each);
        const taken = [found].flat().map((each) => (isGiven(each) ? clone(each) : each));
        return Array.isArray(found) ? taken : taken[0]!;
      });
      return Array.isArray(results) ? results.map((each) => own.take(each)) : own.take(results);
    },
  });
}
