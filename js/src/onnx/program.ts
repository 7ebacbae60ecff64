/** Programs of a model for certain input types. */
import type { LatheError } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';
import type { OnnxValue } from './values.js';

/** Why a device does not run a program. */
export class Refusal {
  constructor(readonly error: LatheError) {}
}

/** Indices of inputs whose content a trace requires. */
export type RequiredContents = readonly number[];

/** A program compiled for certain input types. */
export interface Program {
  readonly bytes: number;
  /**
   * Reads the inputs before it returns. `count`: the valid length of a program with a padded axis. A refusal: of the device of
   * the program, to have the values.
   */
  run(
    inputs: Record<string, Tensor>,
    count?: number,
  ): Promise<OnnxValue[]> | RequiredContents | Refusal;
  dispose(): void;
}
