/** Types of onnxruntime-common 1.30 whose subject is not supported here: GPUs, other execution providers. */
import type { FromImageOptions, ToImageOptions } from './images.js';
import type { ExternalDataFileType, FileType } from './options.js';
import type { TensorLocation } from './tensor_types.js';

/** An execution provider with specific options. */
export interface Provider<Name extends string> {
  readonly name: Name;
  readonly [option: string]: unknown;
}

export type NonTensorType = never;
export type OnnxValueDataLocation = TensorLocation;
export type FileUrlOrPath = string;
export type FileBlob = Blob;
export type FileData = Uint8Array | ArrayBufferLike;
export interface ExternalDataFileDescription {
  data: FileType;
  path: string;
}
export interface OnnxModelOptions {
  externalData?: readonly ExternalDataFileType[];
}

export type TensorFromImageDataOptions = FromImageOptions;
export type TensorFromImageElementOptions = FromImageOptions;
export type TensorFromUrlOptions = FromImageOptions;
export type TensorFromImageBitmapOptions = FromImageOptions;
export type TensorToDataUrlOptions = ToImageOptions;
export type TensorToImageDataOptions = ToImageOptions;
