/** Reads rows and names of columns from comma-separated text. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { own, setOwn } from '../base/own.js';
import type { ColumnConfig, CSVConfig, CSVRow, CSVValue } from './csv.js';
import { once } from './iterate.js';
import { splitRecords, type TextRecord } from './records.js';
import { type ByteSource, readText, type TextSource } from './text_source.js';

interface Columns {
  /** Of every field. */
  all: string[];
  /** Of those that are wanted. */
  names: string[];
}

/** The names of the wanted columns of a source. */
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
  const isWanted = (name: string) => !configuredColumnsOnly || Object.hasOwn(columnConfigs, name);
  return { all: all!, names: all!.filter(isWanted) };
}

/** The rows of a source. */
export async function* readRows(
  source: TextSource | ByteSource,
  config: CSVConfig,
): AsyncGenerator<CSVRow> {
  const { columnConfigs = {} } = config;
  const records = open(source, config);
  try {
    const { all, names } = await readNames(records, config);
    const wanted = names.map((name) => ({
      name,
      at: all.indexOf(name),
      column: own(columnConfigs, name) ?? {},
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
        setOwn(column.isLabel ? ys : xs, name, valueOf(fields[at]!, column, name, line));
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
    if (!column.required && !column.isLabel) return undefined;
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
