/** CSV rows as a dataset, with the options of tf.data.csv. The reader is imported on the first iteration. */
import { LatheError } from '../base/errors.js';
import { isSource } from '../base/source.js';
import { checkStored } from '../tensor/convert.js';
import type { CSVConfig, CSVRow, LabelledCSVRow } from './csv_rows.js';
import { Dataset } from './dataset.js';
import type { LazyIterator } from './lazy_iterator.js';
import type { ByteSource, TextSource } from './text_source.js';

/** The dataset of rows that `csv` returns. */
export class CSVDataset<Row extends CSVRow = CSVRow> extends Dataset<Row> {
  readonly #source: TextSource | ByteSource;
  readonly #config: CSVConfig;

  /** Error: both `delimiter` and `delimWhitespace`. */
  constructor(source: TextSource | ByteSource, config?: CSVConfig | null) {
    super();
    this.#source = source;
    this.#config = config ?? {};
    if (this.#config.delimWhitespace && this.#config.delimiter != null) {
      throw new LatheError('Delimiter should not be provided when delimWhitespace is true.');
    }
  }

  /** The rows. Errors: an unreadable source; options that contradict the header. */
  override async iterator(): Promise<LazyIterator<Row>> {
    const { LazyIterator } = await import('./lazy_iterator.js');
    const { openRows } = await import('./csv_rows.js');
    return new LazyIterator((await openRows(this.#source, this.#config)) as AsyncIterator<Row>);
  }

  /** Names of the columns, in order; with `configuredColumnsOnly` those that have a config, in its order. */
  async columnNames(): Promise<string[]> {
    const { readColumnNames } = await import('./csv_rows.js');
    return readColumnNames(this.#source, this.#config);
  }
}

/**
 * Rows of comma-separated text (RFC 4180), read during iteration. A string is an address, in
 * Node also a path.
 * Errors of `iterator()`: an unreadable source; missing or duplicate column names, or names that contradict the options.
 * During iteration: a row of another length than the header, an empty required field; errors name the line.
 */
export function csv(
  source: TextSource,
  config: CSVConfig & { columnConfigs: Record<string, { isLabel: true }> },
): CSVDataset<LabelledCSVRow>;
export function csv(source: TextSource, config?: CSVConfig | null): CSVDataset;
export function csv(source: TextSource, userConfig?: CSVConfig | null): CSVDataset {
  const config = userConfig ?? {};
  const { delimiter = ',' } = config;
  if (typeof delimiter !== 'string' || delimiter.length !== 1 || /["\r\n]/.test(delimiter)) {
    throw new LatheError(`csv: delimiter must be one character, got ${JSON.stringify(delimiter)}`);
  }
  if (!isSource(source))
    throw new LatheError('csv: the source must be an address, a path or a Blob');
  for (const [name, { dtype }] of Object.entries(config.columnConfigs ?? {})) {
    if (dtype !== undefined && dtype !== 'string') checkStored(`csv: the column ${name}`, dtype);
  }
  return new CSVDataset(source, config);
}
