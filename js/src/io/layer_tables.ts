/** What the core knows of layers and the few names that are no rule: for reading and writing topologies. */
import { tables } from '../core/tables.js';

/** Options of a layer, or a value of one, in anyone's words. */
export type Config = Record<string, unknown>;

/** A layer in a topology. */
export interface KerasLayer {
  class_name: string;
  config: Config;
  name?: string;
  inbound_nodes?: unknown;
}

/** A row of a table of the core. */
export interface Row {
  name: string;
  short?: string;
  parameters: { name: string }[];
}

/** What the core knows, as far as it matters here. */
export interface Tables {
  /** Names of the options of each class, and of those that are true or false. */
  options: Record<string, string[]>;
  flags: Record<string, string[]>;
  activations: Row[];
  initializers: Row[];
  regularizers: Row[];
  constraints: Row[];
}

export function readTables(): Tables {
  const namesOf = (isWanted: (option: { type: string }) => boolean) =>
    Object.fromEntries(
      tables.layers.map((layer) => [
        layer.class,
        layer.options.filter(isWanted).map(({ name }) => name),
      ]),
    );
  return { ...tables, options: namesOf(() => true), flags: namesOf(({ type }) => type === 'flag') };
}

/** Classes of models. */
export const modelClasses = ['Sequential', 'Functional', 'Model'];

/** Options whose value is a row of one of the core's tables, by the end of their name. */
const choices = [
  ['activation', 'activations'],
  ['initializer', 'initializers'],
  ['regularizer', 'regularizers'],
  ['constraint', 'constraints'],
] as const;

/** The table that the value of an option is from, if it is from one. */
export function tableOf(option: string): (typeof choices)[number][1] | undefined {
  return choices.find(([end]) => option.toLowerCase().endsWith(end))?.[1];
}

/** Layers that are an activation by another name, where the core has no such class. */
export const activationLayers: Record<string, string> = {
  ReLU: 'relu',
  LeakyReLU: 'leakyRelu',
  ELU: 'elu',
  Softmax: 'softmax',
};

/** What TensorFlow.js calls the rows whose class is no rule. */
export const rowClasses: Record<string, string> = { l1: 'L1L2', l2: 'L1L2', l1l2: 'L1L2' };

/** Options that change nothing while they have these values, for classes that do not know them. */
export const neutral: Record<string, readonly unknown[] | 'any'> = {
  trainable: [true],
  dtype: ['float32', 'int32'],
  dataFormat: ['channels_last', 'channelsLast'],
  axis: [-1],
  groups: [1],
  dilationRate: [1],
  inputLength: 'any',
  implementation: 'any',
  fused: 'any',
  unroll: 'any',
  seed: 'any',
  dropout: [0],
  recurrentDropout: [0],
};
