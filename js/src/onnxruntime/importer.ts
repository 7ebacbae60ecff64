/** The one place that knows the importer: a model is loaded, run and let go through what is declared here. */
import type { TensorData } from './tensor_types.js';

/** What the importer is told. */
export interface ImporterOptions {
  /** Default: as many as there are. */
  threads?: number;
  /** Sizes of axes by name. */
  sizes?: Readonly<Record<string, number>>;
  /** Bytes of a file of weights by the path that the model has for it. */
  externalData?(path: string): Promise<Uint8Array>;
}

/** A value that models take and give: the elements in rows. */
export interface Elements {
  type: string;
  data: TensorData;
  dims: readonly number[];
}

/** A sequence is an array, a none null. */
export type Value = Elements | null | readonly Value[];

/** An input or output: no type where it is no tensor, no shape where none is known. */
export interface Port {
  readonly name: string;
  readonly type: string | undefined;
  /** Numbers, and names or null for axes of any size. */
  readonly shape: readonly (number | string | null)[] | undefined;
}

/** A model that was loaded. */
export interface ImportedModel {
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  /** The outputs of these names. */
  run(feeds: Record<string, Value>, wanted: readonly string[]): Promise<Record<string, Value>>;
  dispose(): void | Promise<void>;
}

/** Loads a model from its bytes, an address or, in Node, a path. */
export type Importer = (
  source: string | Uint8Array,
  options: ImporterOptions,
) => Promise<ImportedModel>;

let importer: Importer = async () => {
  throw new Error('ONNX files are not read yet');
};

/** Loads a model with the importer in use. */
export const importModel: Importer = (source, options) => importer(source, options);

/** Puts another importer in place, for tests, and gives the one before. */
export function useImporter(other: Importer): Importer {
  const before = importer;
  importer = other;
  return before;
}
