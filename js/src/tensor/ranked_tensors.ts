/** Types of tensors by rank, with the names of TensorFlow.js. */
import type { Tensor } from './tensor.js';

/** A tensor without axes. */
export type Scalar = Tensor<'R0'>;
/** A tensor of one axis. */
export type Tensor1D = Tensor<'R1'>;
/** A tensor of two axes. */
export type Tensor2D = Tensor<'R2'>;
/** A tensor of three axes. */
export type Tensor3D = Tensor<'R3'>;
/** A tensor of four axes. */
export type Tensor4D = Tensor<'R4'>;
/** A tensor of five axes. */
export type Tensor5D = Tensor<'R5'>;
/** A tensor of six axes. */
export type Tensor6D = Tensor<'R6'>;
