/** Data that arrives while a model trains: `tl.data`, as tf.data of TensorFlow.js. */
export type { Batched } from './batch.js';
export type { ColumnConfig, CSVConfig, CSVRow, CSVValue } from './csv_rows.js';
export { csv, CSVDataset } from './csv.js';
export type { Source } from './iterate.js';
export { array, Dataset, type DatasetContainer, generator, zip, type Zipped } from './dataset.js';
export type { LazyIterator } from './lazy_iterator.js';
export type { ByteSource, TextSource } from './text_source.js';
