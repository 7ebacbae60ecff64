/** Converts between the topology format of Keras and TensorFlow.js and the JSON of the core. */
import type { ModelConfig, ModelSummary } from '../core/abi.js';
import { queryFormats } from '../core/formats.js';
import { registeredClasses } from '../layers/serialization.js';

/** A model and the other contents of its topology. */
export interface ReadTopology {
  network: ModelConfig;
  /** Unsupported options that affect only training. */
  leftOut: string[];
}

/**
 * The model that a topology describes. Errors: an unknown class, with the name of the layer; an
 * option that the class does not have and that would change the result; an invalid graph.
 */
export function readTopology(topology: unknown, file: string): ReadTopology {
  const question = { topology, classes: [...registeredClasses.keys()] };
  return queryFormats('lathe_read_topology', question, file);
}

/**
 * The topology of a model for its core summary: names, first shapes and the like are stored
 * even where the program did not specify them.
 */
export function writeTopology(network: ModelConfig, summary: ModelSummary): object {
  return queryFormats('lathe_write_topology', { network, summary }, 'save');
}
