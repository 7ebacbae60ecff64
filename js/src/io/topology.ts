/** The topology of Keras and TensorFlow.js <-> a model as the core reads it. */
import type { ModelConfig, ModelSummary } from '../core/abi.js';
import { askFormats } from '../core/formats.js';
import { registeredClasses } from '../layers/serialization.js';

/** A model and what else its topology says. */
export interface ReadTopology {
  network: ModelConfig;
  /** Options that only training would notice, and that the class of the layer does not have. */
  leftOut: string[];
}

/**
 * The model that a topology describes. Errors: an unknown class, with the name of the layer; an
 * option that the class does not have and that would change the result; a graph that is none.
 */
export function readTopology(topology: unknown, file: string): ReadTopology {
  const question = { topology, classes: [...registeredClasses.keys()] };
  return askFormats('lathe_read_topology', question, file);
}

/**
 * The topology of a model that the core has summed up: names, first shapes and the like are written
 * even where the program left them to the core.
 */
export function writeTopology(network: ModelConfig, summary: ModelSummary): object {
  return askFormats('lathe_write_topology', { network, summary }, 'save');
}
