/** Data that arrives while a model trains: `tl.data`, as tf.data of TensorFlow.js. */
export type { Batched } from './batch.js';
export {
  type ColumnConfig,
  csv,
  type CSVConfig,
  CSVDataset,
  type CSVRow,
  type CSVValue,
} from './csv.js';
export {
  array,
  Dataset,
  type DatasetContainer,
  generator,
  type Source,
  zip,
  type Zipped,
} from './dataset.js';
export type { LazyIterator } from './lazy_iterator.js';
export type { ByteSource, TextSource } from './text_source.js';
