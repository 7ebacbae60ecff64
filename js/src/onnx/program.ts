/** Programs of a model for certain input types. */
import type { Tensor } from '../tensor/tensor.js';
import type { OnnxValue } from './values.js';

/** Thrown where a device does not run a program: the model moves to Wasm. */
export class Refusal {
  constructor(readonly reason: string) {}
}

/** Indices of inputs whose content a trace requires. */
export type RequiredContents = readonly number[];

/** A program compiled for certain input types. */
export interface Program {
  readonly bytes: number;
  /**
   * Reads the inputs before it returns. `count`: the valid length of a program with a padded axis. Error: `Refusal`, of the device of
   * the program, to have the values.
   */
  run(inputs: Record<string, Tensor>, count?: number): Promise<OnnxValue[]> | RequiredContents;
  dispose(): void;
}
