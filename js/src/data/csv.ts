/** Rows of a table in text form as a dataset, with the options of tf.data.csv. */
import { LatheError } from '../errors.js';
import type { DType } from '../tensor.js';
import { Dataset } from './dataset.js';
import { once } from './iterate.js';
import { splitRecords, type TextRecord } from './records.js';
import { readText, type TextSource } from './source.js';

/** The value of a column in a row; undefined where the field is empty and has no default. */
export type CSVValue = string | number | boolean | undefined;
/** A row: values by column, or features and labels where a column is a label. */
export type CSVRow =
  Record<string, CSVValue> | { xs: Record<string, CSVValue>; ys: Record<string, CSVValue> };

/** What is known of a column. */
export interface ColumnConfig {
  /** Whether an empty field is an error. */
  required?: boolean;
  /** int32 rounds down, bool is 1 for "1" and "true". Default: numbers where they are, else strings. */
  dtype?: DType | 'string';
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
}

/** A dataset of rows; made by `csv`. */
export class CSVDataset extends Dataset<CSVRow> {
  readonly #names: () => Promise<string[]>;

  /** @internal */
  constructor(source: TextSource, config: CSVConfig) {
    const open = () => splitRecords(readText(source, 'csv'), config.delimiter ?? ',');
    super(() => readRows(open(), config));
    this.#names = async () => {
      const records = open();
      try {
        return (await readNames(records, config)).names;
      } finally {
        await records.return(undefined);
      }
    };
  }

  /** Names of the columns, in order; with `configuredColumnsOnly`, of those that have a config. */
  async columnNames(): Promise<string[]> {
    return this.#names();
  }
}

/**
 * Rows of comma-separated text (RFC 4180), read while they are walked. A string is an address, in
 * Node also a path.
 * Errors, when it is walked: it cannot be read, a row of another length than the header, an empty
 * field of a required column; each with the line.
 */
export function csv(source: TextSource, config: CSVConfig = {}): CSVDataset {
  const { delimiter = ',' } = config;
  if (typeof delimiter !== 'string' || delimiter.length !== 1 || /["\r\n]/.test(delimiter)) {
    throw new LatheError(`csv: delimiter must be one character, got ${JSON.stringify(delimiter)}`);
  }
  const isSource = typeof source === 'string' || source instanceof URL || source instanceof Blob;
  if (!isSource) throw new LatheError('csv: the source must be an address, a path or a Blob');
  if (config.hasHeader === false && config.columnNames === undefined) {
    throw new LatheError('csv: without a header, columnNames are needed');
  }
  return new CSVDataset(source, config);
}

interface Columns {
  /** Of every field. */
  all: string[];
  /** Of those that are wanted. */
  names: string[];
}

async function readNames(
  records: AsyncGenerator<TextRecord>,
  { hasHeader = true, columnNames, columnConfigs = {}, configuredColumnsOnly }: CSVConfig,
): Promise<Columns> {
  let all = columnNames;
  if (hasHeader) {
    const { done, value } = await records.next();
    if (done) throw new LatheError('csv: there is no header, the text is empty');
    all ??= value.fields;
    if (all.length !== value.fields.length) {
      const found = value.fields.length;
      throw new LatheError(`csv: columnNames has ${all.length} names, the header has ${found}`);
    }
  }
  const twice = all!.find((name, at) => all!.indexOf(name) !== at);
  if (twice !== undefined) throw new LatheError(`csv: the column ${twice} is there twice`);
  const unknown = Object.keys(columnConfigs).find((name) => !all!.includes(name));
  if (unknown !== undefined) {
    const known = all!.join(', ');
    throw new LatheError(`csv: columnConfigs names ${unknown}, but the columns are ${known}`);
  }
  const isWanted = (name: string) => !configuredColumnsOnly || name in columnConfigs;
  return { all: all!, names: all!.filter(isWanted) };
}

async function* readRows(
  records: AsyncGenerator<TextRecord>,
  config: CSVConfig,
): AsyncGenerator<CSVRow> {
  const { columnConfigs = {} } = config;
  try {
    const { all, names } = await readNames(records, config);
    const wanted = names.map((name) => ({
      name,
      at: all.indexOf(name),
      column: columnConfigs[name] ?? {},
    }));
    const isLabelled = wanted.some(({ column }) => column.isLabel);
    for await (const { fields, line } of once(records)) {
      if (fields.length !== all.length) {
        throw new LatheError(
          `csv: line ${line} has ${fields.length} fields, but there are ${all.length} columns`,
        );
      }
      const xs: Record<string, CSVValue> = {};
      const ys: Record<string, CSVValue> = {};
      for (const { name, at, column } of wanted) {
        (column.isLabel ? ys : xs)[name] = valueOf(fields[at]!, column, name, line);
      }
      yield isLabelled ? { xs, ys } : xs;
    }
  } finally {
    await records.return(undefined);
  }
}

function valueOf(text: string, column: ColumnConfig, name: string, line: number): CSVValue {
  if (text === '') {
    if (column.default !== undefined) return column.default;
    if (!column.required) return undefined;
    throw new LatheError(`csv: line ${line}: the required column ${name} is empty`);
  }
  const { dtype } = column;
  if (dtype === 'string') return text;
  if (dtype === 'bool') return text === '1' || text.toLowerCase() === 'true' ? 1 : 0;
  const number = text.trim() === '' ? NaN : Number(text);
  if (Number.isNaN(number)) {
    if (dtype === undefined) return text;
    throw new LatheError(`csv: line ${line}: the column ${name} is ${dtype}, got "${text}"`);
  }
  return dtype === 'int32' ? Math.floor(number) : number;
}
