/** What the core knows of layers, for reading and writing topologies. */
import { tables } from '../core/tables.js';
import { choices } from './keras_names.js';

export { activationLayers, modelClasses, neutral, rowClasses } from './keras_names.js';

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

/** The table that the value of an option is from, if it is from one. */
export function tableOf(option: string): (typeof choices)[number][1] | undefined {
  return choices.find(([end]) => option.toLowerCase().endsWith(end))?.[1];
}
