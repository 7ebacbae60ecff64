/** Reads rows and column names of CSV. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { entryOf, setEntry } from '../base/records.js';
import type { StoredDType } from '../tensor/convert.js';
import { once } from './iterate.js';
import { splitRecords, type TextRecord } from './records.js';
import { type ByteSource, readText, type TextSource } from './text_source.js';

/** The value of a column in a row; undefined where the field is empty and has no default. */
export type CSVValue = string | number | boolean | undefined;
/** A row where a column is a label: values by column. */
export interface LabelledCSVRow {
  xs: Record<string, CSVValue>;
  ys: Record<string, CSVValue>;
}
/** A row: values by column, or features and labels where a column is a label. */
export type CSVRow = Record<string, CSVValue> | LabelledCSVRow;

/** Options of a column. */
export interface ColumnConfig {
  /** Whether an empty field is an error, as it always is for a label without a default. */
  required?: boolean;
  /** int32 rounds down, bool is 1 for "1" and "true". Default: numbers where the field parses as one, else strings. */
  dtype?: StoredDType | 'string';
  /** The value of empty fields. */
  default?: string | number | boolean;
  /** Whether elements are `{xs, ys}` with this column in `ys`. */
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
  /** Whether runs of spaces are the delimiter. Default: false. */
  delimWhitespace?: boolean;
}

interface Columns {
  /** Options of every field. */
  all: string[];
  /** Options of the selected columns. */
  names: string[];
}

/** The names of all and of the selected columns of a source. */
export async function readColumnNames(
  source: TextSource | ByteSource,
  config: CSVConfig,
): Promise<string[]> {
  const records = open(source, config);
  try {
    const { names } = await readNames(records, config);
    return config.configuredColumnsOnly ? Object.keys(config.columnConfigs ?? {}) : names;
  } finally {
    await records.return(undefined);
  }
}

const names: OptionNames<CSVConfig> = {
  hasHeader: true,
  columnNames: true,
  columnConfigs: true,
  configuredColumnsOnly: true,
  delimiter: true,
  delimWhitespace: true,
};
const columnNames: OptionNames<ColumnConfig> = {
  required: true,
  dtype: true,
  default: true,
  isLabel: true,
};

function open(source: TextSource | ByteSource, config: CSVConfig): AsyncGenerator<TextRecord> {
  checkOptions('csv', config, names);
  for (const [name, column] of Object.entries(config.columnConfigs ?? {}))
    checkOptions(`csv: column ${name}`, column, columnNames);
  const { delimWhitespace = false, delimiter = delimWhitespace ? ' ' : ',' } = config;
  return splitRecords(readText(source, 'csv'), delimiter, delimWhitespace);
}

async function readNames(
  records: AsyncGenerator<TextRecord>,
  { hasHeader, columnNames, columnConfigs, configuredColumnsOnly }: CSVConfig,
): Promise<Columns> {
  let all = columnNames;
  if (hasHeader !== false) {
    const { done, value } = await records.next();
    if (done) throw new LatheError('No data was found for CSV parsing.');
    all ??= value.fields;
    if (all.length !== value.fields.length) {
      throw new LatheError(
        `The length of provided columnNames (${all.length}) does not match the length of the header line read from file (${value.fields.length}).`,
      );
    }
  }
  if (!all) throw new LatheError('Column names must be provided if there is no header line.');
  const twice = all.filter((name, at) => all.indexOf(name) === at && all.lastIndexOf(name) !== at);
  if (twice.length > 0) throw new LatheError(`Duplicate column names found: ${twice.join()}`);
  const unknown = Object.keys(columnConfigs ?? {}).find((name) => !all.includes(name));
  if (unknown !== undefined) {
    throw new LatheError(
      `The key "${unknown}" provided in columnConfigs does not match any of the column names (${all.join()}).`,
    );
  }
  const isSelected = (name: string) =>
    !configuredColumnsOnly || Object.hasOwn(columnConfigs ?? {}, name);
  return { all, names: all.filter(isSelected) };
}

/** Opens a source, reads its header, and returns an iterator of its rows, whose `return` closes the source. */
export async function openRows(
  source: TextSource | ByteSource,
  config: CSVConfig,
): Promise<AsyncIterator<CSVRow>> {
  const records = open(source, config);
  const end = () => records.return(undefined) as Promise<IteratorReturnResult<undefined>>;
  try {
    const rows = readRows(records, config, await readNames(records, config));
    return { next: () => rows.next(), return: end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function* readRows(
  records: AsyncGenerator<TextRecord>,
  { columnConfigs, delimiter = ',' }: CSVConfig,
  { all, names }: Columns,
): AsyncGenerator<CSVRow> {
  const selected = names.map((name) => ({
    name,
    at: all.indexOf(name),
    column: entryOf(columnConfigs ?? {}, name) ?? {},
  }));
  const isLabelled = selected.some(({ column }) => column.isLabel);
  for await (const { fields, line } of once(records)) {
    const cause = `line ${line}`;
    if (fields.length !== all.length) {
      throw new LatheError(
        `Invalid row in csv file. Should have ${all.length} elements in a row, but got ${fields.join()}`,
        { cause },
      );
    }
    const xs: Record<string, CSVValue> = {};
    const ys: Record<string, CSVValue> = {};
    for (const { name, at, column } of selected) {
      const field = fields[at]!;
      const isEmpty = field === '';
      if (isEmpty && column.default === undefined && (column.required || column.isLabel)) {
        throw new LatheError(
          `Required column ${name} is empty in this line: ${fields.join(delimiter)}`,
          { cause },
        );
      }
      const value = isEmpty ? column.default : valueOf(field, column, name, line);
      setEntry(column.isLabel ? ys : xs, name, value);
    }
    yield isLabelled ? { xs, ys } : xs;
  }
}

function valueOf(text: string, column: ColumnConfig, name: string, line: number): CSVValue {
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
