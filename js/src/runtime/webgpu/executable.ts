/** Shaders and their schedule, as the compiler emits them. */

/** A port; elements of bool are u32. */
export interface Port {
  readonly name: string;
  /** In the notation of the core. */
  readonly dtype: string;
  readonly shape: readonly number[];
}

/**
 * Bytes of a buffer: of 'scratch', the temporaries, and 'constants' a part, whose offset is a multiple of 256; of the
 * others a whole value.
 */
export interface Region {
  readonly of: 'scratch' | 'constants' | 'state' | 'input' | 'output';
  readonly index?: number;
  readonly offset?: number;
  readonly bytes: number;
}

export type Access = 'read' | 'read_write';

/** What a kernel binds in group 0, at its position. Everything in 'scratch' is read_write. */
export type Binding = Region & { readonly access: Access };

export interface Kernel {
  readonly name: string;
  /** An index of `shaders`. */
  readonly shader: number;
  /** Workgroups; none if one is 0. */
  readonly groups: readonly [number, number];
  readonly bindings: readonly Binding[];
}

/** The index of a kernel, repeated steps, or a copy. */
export type Step =
  | number
  | { readonly times: number; readonly steps: readonly Step[] }
  | { readonly copy: { readonly from: Region; readonly to: Region } };

export interface EntryInfo {
  readonly name: string;
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  readonly kernels: readonly Kernel[];
  readonly steps: readonly Step[];
}

export interface WebGpuMetadata {
  readonly version: 1;
  readonly target: 'webgpu';
  readonly scratchBytes: number;
  readonly constantBytes: number;
  readonly states: readonly Port[];
  /** Distinct texts in WGSL with the entry point `main`. */
  readonly shaders: readonly string[];
  readonly entries: readonly EntryInfo[];
}

/** A part of the constants; what no part covers is zero. */
export interface ConstantPart {
  readonly offset: number;
  readonly data: Uint8Array;
}

export interface WebGpuExecutable {
  readonly metadata: WebGpuMetadata;
  /** May be views of memory that changes later. */
  readonly constants: readonly ConstantPart[];
  /** Computes the constants again after a loss of the GPU; otherwise a program retains a copy of them. */
  readonly constantsAgain?: (() => readonly ConstantPart[]) | undefined;
}
