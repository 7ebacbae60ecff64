/**
 * Registers this package as the backend "lathe" of an unmodified TensorFlow.js:
 *
 *     import * as tf from '@tensorflow/tfjs';
 *     import 'tensorlathe/tfjs-backend';
 *     await tf.setBackend('lathe');
 *
 * @module tensorlathe/tfjs-backend
 */
import { engine, KernelBackend, registerBackend, registerKernel } from '@tensorflow/tfjs-core';
import type { Tensor } from './tensor/tensor.js';
import { engine as eager } from './eager/engine.js';
import { parametrizeSlices } from './eager/plan/parametrize_slices.js';
import { endScope, startScope } from './tensor/live_tensors.js';
import { ready } from './model/ready.js';
import { clone } from './ops/index.js';
import { inferFromImplicitShape } from './shapes/shapes.js';
import { LatheBackend, type TensorInfo } from './tfjs_backend/backend.js';
import { type KernelInputs, inputsOf } from './tfjs_backend/inputs.js';
import { type Attributes, kernels as createKernels } from './tfjs_backend/kernels.js';
import { counters } from './tfjs_backend/scalars.js';
import './index.js';

eager.plans.parametrize = parametrizeSlices;

/** Above WebAssembly and WebGL, so that it is the default backend. */
const priority = 4;

registerBackend(
  'lathe',
  async () => {
    await ready();
    const backend = new LatheBackend(engine());
    // TensorFlow.js requires backends to be instances of its class.
    Object.setPrototypeOf(LatheBackend.prototype, KernelBackend.prototype);
    return backend as unknown as KernelBackend;
  },
  priority,
);

/** Kernels that return their input's data under another shape; undefined: not for these arguments. */
const shared: Record<string, (x: TensorInfo, attributes: Attributes) => number[] | undefined> = {
  Cast: ({ shape, dtype }, attributes) => (attributes.dtype === dtype ? shape : undefined),
  ExpandDims: ({ shape }, { dim }) => {
    const at = dim < 0 ? dim + shape.length + 1 : dim;
    return at < 0 ? undefined : [...shape.slice(0, at), 1, ...shape.slice(at)];
  },
  Identity: ({ shape }) => shape,
  Reshape: ({ shape }, attributes) => {
    const size = shape.reduce((product, each) => product * each, 1);
    return inferFromImplicitShape(attributes.shape as number[], size);
  },
};

const kernels = createKernels();
for (const kernelName of new Set([...Object.keys(shared), ...Object.keys(kernels)])) {
  const shapeOf = shared[kernelName];
  const kernel = kernels[kernelName]!;
  const counter = counters.get(kernelName);
  registerKernel({
    kernelName,
    backendName: 'lathe',
    kernelFunc({ inputs, attrs, backend }) {
      const latheBackend = backend as unknown as LatheBackend;
      const x = (inputs.x ?? inputs.input) as TensorInfo;
      const shape = shapeOf?.(x, (attrs ?? {}) as Attributes);
      if (shape !== undefined) {
        latheBackend.incRef(x.dataId);
        return { dataId: x.dataId, shape, dtype: x.dtype };
      }
      const scalarResult = counter?.(inputs as KernelInputs, latheBackend);
      if (scalarResult !== undefined) return scalarResult;
      startScope();
      try {
        const computed = kernel(
          inputsOf(inputs as KernelInputs, latheBackend),
          (attrs ?? {}) as Attributes,
        );
        const adopt = (each: Tensor) => latheBackend.adopt(unshared(each));
        return Array.isArray(computed) ? computed.map(adopt) : adopt(computed);
      } finally {
        endScope();
      }
    },
  });
}

/** A result that is one of the inputs is owned by another tensor info, so it is cloned. */
const unshared = (tensor: Tensor): Tensor => (tensor.kept ? clone(tensor) : tensor);
