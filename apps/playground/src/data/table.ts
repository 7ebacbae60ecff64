// Rows of a CSV file -> examples: numbers are standardised, words become one number for each.
import * as tl from 'tensorlathe';
import type { DataSet, Part } from './data_set';

type Cell = string | number | undefined;

/** A table as read, before a person says what to predict. */
export interface Table {
  name: string;
  columns: string[];
  /** Without those that have an empty cell. */
  rows: Cell[][];
  leftOut: number;
}

/** What to predict: the number of the class of a column, or its value. */
export interface Target {
  column: string;
  kind: 'classes' | 'values';
}

const mostClasses = 50;

/** Reads the file. Errors: no table, two rows at least; lines of another length. */
export async function readTable(file: File): Promise<Table> {
  const source = tl.data.csv(file);
  const columns = await source.columnNames();
  if (columns.length < 2) {
    throw new Error(
      `${file.name}: its first line must name at least two columns, separated by commas`,
    );
  }
  const all = (await source.toArray()) as Record<string, Cell>[];
  const cells = all.map((row) => columns.map((name) => row[name]));
  const rows = cells.filter((row) => row.every((cell) => cell !== undefined));
  if (rows.length < 10) {
    throw new Error(
      `${file.name}: ${rows.length} complete rows are too few to train on; 10 are needed`,
    );
  }
  return { name: file.name, columns, rows, leftOut: all.length - rows.length };
}

const columnOf = ({ columns, rows }: Table, name: string) => {
  const at = columns.indexOf(name);
  return rows.map((row) => row[at]!);
};

const isNumeric = (cells: readonly (Cell | string)[]) =>
  cells.every((cell) => typeof cell === 'number');

/** Words, or few whole numbers, are classes. */
export function guessKind(table: Table, column: string): Target['kind'] {
  const cells = columnOf(table, column);
  const distinct = new Set(cells).size;
  const whole = cells.every(Number.isInteger);
  return !isNumeric(cells) || (whole && distinct <= 20) ? 'classes' : 'values';
}

/** Classes in the order of their names. Error: one only, or too many. */
function distinctOf(cells: readonly Cell[], column: string): Cell[] {
  const distinct = [...new Set(cells)].sort((a, b) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : 1,
  );
  if (distinct.length >= 2 && distinct.length <= mostClasses) return distinct;
  const count = distinct.length === 1 ? 'one value only' : `${distinct.length} different values`;
  throw new Error(`the column ${column} has ${count}; classes are 2 to ${mostClasses}`);
}

/** Random order that only the count decides. */
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

/** Mean 0 and deviation 1 over the rows that are trained on. */
function standardised(cells: readonly number[], train: readonly number[]): number[] {
  const mean = train.reduce((sum, row) => sum + cells[row]!, 0) / train.length;
  const variance = train.reduce((sum, row) => sum + (cells[row]! - mean) ** 2, 0) / train.length;
  const deviation = Math.sqrt(variance) || 1;
  return cells.map((cell) => (cell - mean) / deviation);
}

/** The examples of a table, four fifths of them to train on. Error: a column that cannot be used. */
export function tableDataSet(table: Table, { column, kind }: Target): DataSet {
  const { name, columns, rows } = table;
  const order = shuffled(rows.length);
  const cut = Math.floor(0.8 * rows.length);
  const [train, test] = [order.slice(0, cut), order.slice(cut)];
  const features = columns
    .filter((each) => each !== column)
    .flatMap((each) => {
      const cells = columnOf(table, each);
      if (isNumeric(cells)) return [standardised(cells as number[], train)];
      return distinctOf(cells, each).map((word) => cells.map((cell) => Number(cell === word)));
    });
  const targets = columnOf(table, column);
  const classes = kind === 'classes' ? distinctOf(targets, column) : undefined;
  if (kind === 'values' && !isNumeric(targets)) {
    const word = targets.find((cell) => typeof cell !== 'number');
    throw new Error(`the column ${column} has "${word}", which is no number: predict its classes`);
  }
  const labels = targets.map((cell) =>
    classes === undefined ? Number(cell) : classes.indexOf(cell),
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
    target: column,
    train: part(train),
    test: part(test),
  };
}
