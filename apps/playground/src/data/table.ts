// Parses CSV files into tables, reporting errors by line, column and value, and tables into examples: numbers are standardized,
// words become class indices.
import {
  findDelimiter,
  type Line,
  numberOf,
  delimiterNames,
  splitLines,
  withoutThousands,
} from './csv';
import type { Column } from './columns';
import { type DataSet, type Part, type Scale, scaled } from './data_set';

type Cell = string | number;

/** A parsed table, before the user chooses the target. */
export interface Table {
  name: string;
  columns: string[];
  rows: Cell[][];
  /** Delimiter, for display. */
  delimiter: string;
  /** Lines that were left out, and why. */
  leftOut: string[];
  /** Columns that were left out, and why. */
  leftOutColumns: string[];
}

/** The target: the class index of a column, or its value. */
export interface Target {
  column: string;
  kind: 'classes' | 'values';
}

const maxClasses = 50;
const fewestRows = 10;
/** The share of numbers from which a column is numeric: other words in it are errors. */
const mostlyNumbers = 0.8;

/** Some rows are faulty; the others can be used. */
export class FaultyRows extends Error {
  constructor(
    message: string,
    /** Messages with line, column and value. */
    readonly faults: readonly string[],
  ) {
    super(message);
  }
}

/** Whether the first line of a file names the columns: `unknown` is found out, or asked. */
export type Header = 'unknown' | 'names' | 'none';

/** The first line may be a row: only the user knows. */
export class HeaderQuestion extends Error {
  constructor(readonly first: readonly string[]) {
    super('Does the first line name the columns?');
  }
}

/** Whether each column is numeric. */
function findNumeric(lines: readonly Line[], width: number, delimiter: string): boolean[] {
  return Array.from({ length: width }, (_, at) => {
    const cells = lines.map(({ fields }) => fields[at]!.trim()).filter((field) => field !== '');
    const isNumber = (field: string) =>
      Number.isFinite(numberOf(field, delimiter)) || withoutThousands(field) !== undefined;
    const numbers = cells.filter(isNumber);
    return cells.length > 0 && numbers.length >= mostlyNumbers * cells.length;
  });
}

/** Whether the first line has a number above numbers, or words that are also in other rows: it may be a row. */
function looksLikeRow({ fields }: Line, lines: readonly Line[], delimiter: string): boolean {
  const same = lines.filter((line) => line.fields.length === fields.length);
  if (same.length === 0) return false;
  const isNumeric = findNumeric(same, fields.length, delimiter);
  const isNumber = (field: string) => Number.isFinite(numberOf(field, delimiter));
  if (fields.some((field, at) => isNumeric[at] && isNumber(field))) return true;
  return (
    !isNumeric.includes(true) &&
    fields.every((field, at) => same.some((line) => line.fields[at]!.trim() === field.trim()))
  );
}

/** Names of the columns. Error: a single column. */
function columnsOf(header: Line | undefined, name: string): string[] {
  const fields = header?.fields.map((field) => field.trim()) ?? [];
  const between = new Intl.ListFormat('en', { type: 'disjunction' });
  if (fields.length < 2) {
    throw new Error(
      `${name}: its first line must have at least two columns, with ${between.format(Object.values(delimiterNames))} between them`,
    );
  }
  return fields;
}

/** Decodes a file: UTF-8, UTF-16 with a byte order mark, or else windows-1252, as Excel writes it. */
async function textOf(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mark = (bytes[0]! << 8) | bytes[1]!;
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/**
 * Reads the file. Columns that are mostly empty are left out, then rows with an empty cell; rows that are wrong only where
 * `skips` is set. Errors: no table of 10 rows at least; HeaderQuestion; FaultyRows.
 */
export async function readTable(file: File, header: Header, skips = false): Promise<Table> {
  const { name } = file;
  const text = await textOf(file);
  const delimiter = findDelimiter(text);
  const all = splitLines(text, delimiter);
  const [first, ...others] = all;
  const found = columnsOf(first, name);
  if (header === 'unknown' && looksLikeRow(first!, others, delimiter))
    throw new HeaderQuestion(found);
  const isRow = header === 'none';
  const names = isRow ? found.map((_, at) => `column ${at + 1}`) : found;
  const lines = isRow ? all : others;
  const complete = lines.filter(({ fields }) => fields.length === names.length);
  const isEmpty = (field: string) => field.trim() === '';
  const emptyCells = names.map(
    (_, at) => complete.filter(({ fields }) => isEmpty(fields[at]!)).length,
  );
  const usedColumns = [...names.keys()].filter((at) => 2 * emptyCells[at]! <= complete.length);
  const columns = usedColumns.map((at) => names[at]!);
  const twice = columns.find((column, at) => columns.indexOf(column) !== at);
  if (twice !== undefined) throw new Error(`${name}: the column “${twice}” is there twice`);
  const isNumeric = findNumeric(complete, names.length, delimiter);
  const faults: string[] = [];
  const leftOut: string[] = [];
  const rows: Cell[][] = [];
  for (const { line, fields } of lines) {
    if (fields.length !== names.length) {
      faults.push(
        `line ${line} has ${fields.length} fields, but there are ${names.length} columns`,
      );
      continue;
    }
    const cells = usedColumns.map((at) =>
      isNumeric[at] ? numberOf(fields[at]!, delimiter) : fields[at]!.trim(),
    );
    const empty = usedColumns.find((at) => isEmpty(fields[at]!));
    const wrong = usedColumns.find(
      (at) => isNumeric[at] && !Number.isFinite(numberOf(fields[at]!, delimiter)),
    );
    if (empty !== undefined) leftOut.push(`line ${line}, column ${names[empty]}: empty`);
    else if (wrong !== undefined) {
      const plain = withoutThousands(fields[wrong]!);
      const wayOut = plain === undefined ? '' : `; write ${plain}`;
      faults.push(`line ${line}, column ${names[wrong]}: “${fields[wrong]}” is no number${wayOut}`);
    } else rows.push(cells);
  }
  if (faults.length > 0 && !skips) {
    const what =
      faults.length === 1 ? faults[0]! : `${faults.length} of ${lines.length} rows are wrong`;
    throw new FaultyRows(`${name}: ${what}`, faults);
  }
  if (rows.length < fewestRows) {
    throw new Error(
      `${name}: ${rows.length} complete rows are too few to train on; ${fewestRows} are needed`,
    );
  }
  leftOut.push(...faults);
  const leftOutColumns = [...names.keys()]
    .filter((at) => !usedColumns.includes(at))
    .map(
      (at) =>
        `${names[at] || `number ${at + 1}`} (${emptyCells[at]} of ${complete.length} cells are empty)`,
    );
  return { name, columns, rows, delimiter: delimiterNames[delimiter]!, leftOut, leftOutColumns };
}

const columnOf = ({ columns, rows }: Table, name: string) => {
  const at = columns.indexOf(name);
  return rows.map((row) => row[at]!);
};

const isCountOfClasses = (count: number) => count >= 2 && count <= maxClasses;
const areNumbers = (cells: readonly Cell[]) => cells.every((cell) => typeof cell === 'number');

/** Words, or few distinct integers, are classes. */
export function guessKind(table: Table, column: string): Target['kind'] {
  const cells = columnOf(table, column);
  const distinct = new Set(cells).size;
  const areIntegers = cells.every(Number.isInteger);
  return !areNumbers(cells) || (areIntegers && distinct <= 20) ? 'classes' : 'values';
}

/** The default target: the last column that can be predicted. */
export function guessTarget(table: Table): Target {
  const targets = table.columns.map((column): Target => ({
    column,
    kind: guessKind(table, column),
  }));
  const isPossible = ({ column, kind }: Target) =>
    kind === 'values' || isCountOfClasses(new Set(columnOf(table, column)).size);
  return targets.filter(isPossible).at(-1) ?? targets.at(-1)!;
}

/** Classes sorted by name. Error: a single one, or too many. */
function distinctOf(cells: readonly Cell[], column: string): Cell[] {
  const distinct = [...new Set(cells)].sort((a, b) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : 1,
  );
  if (isCountOfClasses(distinct.length)) return distinct;
  const count = distinct.length === 1 ? 'one value only' : `${distinct.length} different values`;
  throw new Error(`the column ${column} has ${count}; classes are 2 to ${maxClasses}`);
}

/** Columns of words that are not usable as features, and why: one distinct word, or too many. */
export function unusableColumns(table: Table, target: string): string[] {
  return table.columns.flatMap((column) => {
    const cells = columnOf(table, column);
    const count = new Set(cells).size;
    if (column === target || areNumbers(cells) || isCountOfClasses(count)) return [];
    return [`${column} (${count === 1 ? 'one word only' : `${count} different words`})`];
  });
}

/** Random order, deterministic for the count. */
function shuffled(count: number): number[] {
  const order = Array.from({ length: count }, (_, at) => at);
  let random = 12345;
  for (let at = count - 1; at > 0; --at) {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    const other = random % (at + 1);
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return order;
}

/** Mean and deviation over the training rows. */
function scaleOf(cells: readonly number[], train: readonly number[]): Scale {
  const mean = train.reduce((sum, row) => sum + cells[row]!, 0) / train.length;
  const variance = train.reduce((sum, row) => sum + (cells[row]! - mean) ** 2, 0) / train.length;
  return { mean, deviation: Math.sqrt(variance) || 1 };
}

/** The examples of a table, 80 % of them for training. Errors: an unusable target; no usable features. */
export function tableDataSet(table: Table, { column, kind }: Target): DataSet {
  const { name, columns, rows } = table;
  const order = shuffled(rows.length);
  const trainCount = Math.floor(0.8 * rows.length);
  const [train, test] = [order.slice(0, trainCount), order.slice(trainCount)];
  const used = columns
    .filter((each) => each !== column)
    .flatMap((each): Column[] => {
      const cells = columnOf(table, each);
      if (areNumbers(cells))
        return [{ name: each, kind: 'number', scale: scaleOf(cells as number[], train) }];
      const words = [...new Set(cells as string[])].sort();
      return isCountOfClasses(words.length) ? [{ name: each, kind: 'words', words }] : [];
    });
  const features = used.flatMap((each) => {
    const cells = columnOf(table, each.name);
    if (each.kind === 'number') return [cells.map((cell) => scaled(cell as number, each.scale))];
    return each.words.map((word) => cells.map((cell) => Number(cell === word)));
  });
  if (features.length === 0) {
    const why = unusableColumns(table, column).join(', ');
    throw new Error(`${name}: nothing is left to predict ${column} from: ${why}`);
  }
  const targets = columnOf(table, column);
  const classes = kind === 'classes' ? distinctOf(targets, column) : undefined;
  if (kind === 'values' && !areNumbers(targets)) {
    const word = targets.find((cell) => typeof cell !== 'number');
    throw new Error(`the column ${column} has "${word}", which is no number: predict its classes`);
  }
  const scale = classes === undefined ? scaleOf(targets as number[], train) : undefined;
  const labels = targets.map((cell) =>
    classes === undefined ? scaled(cell as number, scale!) : classes.indexOf(cell),
  );
  const part = (chosen: readonly number[]): Part => ({
    features: Float32Array.from(chosen.flatMap((row) => features.map((cells) => cells[row]!))),
    labels: (classes === undefined ? Float32Array : Int32Array).from(
      chosen.map((row) => labels[row]!),
    ),
    count: chosen.length,
  });
  return {
    source: name,
    shape: [features.length],
    ...(classes === undefined ? {} : { classes: classes.map(String) }),
    ...(scale === undefined ? {} : { scale }),
    target: column,
    columns: used,
    train: part(train),
    test: part(test),
  };
}
