/**
 * Registers us as the backend "lathe" of an unmodified TensorFlow.js:
 *
 *     import * as tf from '@tensorflow/tfjs';
 *     import 'tensorlathe/tfjs-backend';
 *     await tf.setBackend('lathe');
 *
 * @module tensorlathe/tfjs-backend
 */
import { engine, KernelBackend, registerBackend, registerKernel } from '@tensorflow/tfjs-core';
import type { Tensor } from './tensor/tensor.js';
import { sharePlans } from './eager/compute.js';
import { opened } from './eager/open_plan.js';
import { endScope, startScope } from './tensor/scopes.js';
import { ready } from './model/ready.js';
import { clone } from './ops/index.js';
import { inferFromImplicitShape } from './shapes/shapes.js';
import { LatheBackend, type TensorInfo } from './tfjs_backend/backend.js';
import { type GivenInputs, inputsOf } from './tfjs_backend/inputs.js';
import { type Attributes, kernels } from './tfjs_backend/kernels.js';
import { counters } from './tfjs_backend/scalars.js';
import './index.js';

sharePlans(opened);

/** Above WebAssembly and WebGL, so that it is taken when nobody says another one. */
const priority = 4;

registerBackend(
  'lathe',
  async () => {
    await ready();
    const backend = new LatheBackend(engine());
    // TensorFlow.js asks whether a backend is one of its own class.
    Object.setPrototypeOf(LatheBackend.prototype, KernelBackend.prototype);
    return backend as unknown as KernelBackend;
  },
  priority,
);

/** Kernels that give the elements of their input as they are, with its name, in this shape; undefined: not for this one. */
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

for (const kernelName of new Set([...Object.keys(shared), ...Object.keys(kernels)])) {
  const shapeOf = shared[kernelName];
  const kernel = kernels[kernelName]!;
  const counter = counters.get(kernelName);
  registerKernel({
    kernelName,
    backendName: 'lathe',
    kernelFunc({ inputs, attrs, backend }) {
      const own = backend as unknown as LatheBackend;
      const x = (inputs.x ?? inputs.input) as TensorInfo;
      const shape = shapeOf?.(x, (attrs ?? {}) as Attributes);
      if (shape !== undefined) {
        own.incRef(x.dataId);
        return { dataId: x.dataId, shape, dtype: x.dtype };
      }
      const counted = counter?.(inputs as GivenInputs, own);
      if (counted !== undefined) return counted;
      startScope();
      try {
        const computed = kernel(inputsOf(inputs as GivenInputs, own), (attrs ?? {}) as Attributes);
        const take = (each: Tensor) => own.take(unheld(each));
        return Array.isArray(computed) ? computed.map(take) : take(computed);
      } finally {
        endScope();
      }
    },
  });
}

/** What a kernel gives as it got it has its owner, who keeps it. */
const unheld = (tensor: Tensor): Tensor => (tensor.kept ? clone(tensor) : tensor);
