/** Programs of a model for certain input types. */
import type { Tensor } from '../tensor/tensor.js';
import type { OnnxValue } from './values.js';

/** Thrown where a device does not run a program: the model moves to Wasm. */
export class Refusal {
  constructor(readonly reason: string) {}
}

/** Inputs whose content a trace requires. */
export class RequiredContents {
  constructor(readonly inputs: readonly number[]) {}
}

/** A program compiled for certain input types. */
export interface Program {
  readonly bytes: number;
  /** Whether runs may turn out to require contents. */
  readonly isSegmented?: true;
  /**
   * Reads the inputs before it returns. `count`: the valid length of a program with a padded axis. Error: `Refusal`, of the device of
   * the program, to have the values. Contents that segments turn out to require instead of results.
   */
  run(inputs: Record<string, Tensor>, count?: number): Promise<OnnxValue[] | RequiredContents>;
  dispose(): void;
}
