/** Rows of a table in text form as a dataset, with the options of tf.data.csv. What reads them comes when they are walked. */
import { LatheError } from '../base/errors.js';
import { isSource } from '../base/source.js';
import { checkStored, type StoredDType } from '../tensor/convert.js';
import { Dataset } from './dataset.js';
import type { LazyIterator } from './lazy_iterator.js';
import type { ByteSource, TextSource } from './text_source.js';

/** The value of a column in a row; undefined where the field is empty and has no default. */
export type CSVValue = string | number | boolean | undefined;
/** A row where a column is a label: values by column. */
export interface LabelledCSVRow {
  xs: Record<string, CSVValue>;
  ys: Record<string, CSVValue>;
}
/** A row: values by column, or features and labels where a column is a label. */
export type CSVRow = Record<string, CSVValue> | LabelledCSVRow;

/** What is known of a column. */
export interface ColumnConfig {
  /** Whether an empty field is an error, which it is of a label that has no default, too. */
  required?: boolean;
  /** int32 rounds down, bool is 1 for "1" and "true". Default: numbers where they are, else strings. */
  dtype?: StoredDType | 'string';
  /** What an empty field means. */
  default?: string | number | boolean;
  /** Makes the elements `{xs, ys}`, with this column in `ys`. */
  isLabel?: boolean;
}

/** Options of `csv`. */
export interface CSVConfig {
  /** Whether the first record names the columns. Default: true. */
  hasHeader?: boolean;
  /** Names of the columns, instead of those of the header. */
  columnNames?: string[];
  columnConfigs?: Record<string, ColumnConfig>;
  /** Whether columns without a config are left out. Default: false. */
  configuredColumnsOnly?: boolean;
  /** One character between fields. Default: a comma. */
  delimiter?: string;
  /** Whether any number of spaces is between fields, and no other delimiter. Default: false. */
  delimWhitespace?: boolean;
}

/** A dataset of rows, as `csv` makes it. */
export class CSVDataset<Row extends CSVRow = CSVRow> extends Dataset<Row> {
  readonly #source: TextSource | ByteSource;
  readonly #config: CSVConfig;

  /** Error: both kinds of delimiters. */
  constructor(source: TextSource | ByteSource, config?: CSVConfig | null) {
    super();
    this.#source = source;
    this.#config = config ?? {};
    if (this.#config.delimWhitespace && this.#config.delimiter != null) {
      throw new LatheError('Delimiter should not be provided when delimWhitespace is true.');
    }
  }

  /** The rows. Errors: the text cannot be read; its header and the options do not fit. */
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
 * Rows of comma-separated text (RFC 4180), read while they are walked. A string is an address, in
 * Node also a path.
 * Errors, of `iterator()`: it cannot be read; no names of columns, some that are there twice, or that options do not fit.
 * When it is walked: a row of another length than the header, an empty field of a required column; the line is the cause.
 */
export function csv(
  source: TextSource,
  config: CSVConfig & { columnConfigs: Record<string, { isLabel: true }> },
): CSVDataset<LabelledCSVRow>;
export function csv(source: TextSource, config?: CSVConfig | null): CSVDataset;
export function csv(source: TextSource, given?: CSVConfig | null): CSVDataset {
  const config = given ?? {};
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
