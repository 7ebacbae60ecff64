/**
 * The API of onnxruntime-web 1.30 on this package: instead of `onnxruntime-web`, `onnxruntime-node` and `onnxruntime-common`.
 *
 * @module tensorlathe/onnxruntime
 */
import * as common from './common.js';
import { env } from './env.js';
import { InferenceSession } from './session.js';
import { Tensor } from './tensor.js';

export * from './common.js';
export { env, type Env } from './env.js';
export type { OnnxValue } from './base_session.js';
export { InferenceSession, type InferenceSessionFactory } from './session.js';
export { Tensor } from './tensor.js';
export type {
  CpuPinnedConstructorParameters,
  GpuBufferConstructorParameters,
  TensorConstructor,
  TensorFromGpuBufferOptions,
  TypedTensor,
} from './tensor_types.js';
export type * from './names.js';
export type { ImageFormat, ImageTensorLayout } from './images.js';
export type { ExternalDataFileType, FileType } from './options.js';

export default { ...common, InferenceSession, Tensor, env };
