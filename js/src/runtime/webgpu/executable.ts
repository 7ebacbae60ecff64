/** What a program is loaded from. */
import type { WebGpuMetadata } from '../../core/abi.js';

/** A part of the constants; what no part covers is zero. */
export interface ConstantPart {
  readonly offset: number;
  readonly data: Uint8Array;
}

export interface WebGpuExecutable {
  readonly metadata: WebGpuMetadata;
  /** May be views of memory that changes later. */
  readonly constants: readonly ConstantPart[];
}
