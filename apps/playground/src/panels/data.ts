// The source of the examples: drawn digits, idx files, or a CSV file whose target the user chooses.
import { readIdxDataSet, drawDataSet } from '../data/digits';
import { shapeDataSet, shapes } from '../data/shapes';
import {
  FaultyRows,
  type Header,
  HeaderQuestion,
  guessKind,
  guessTarget,
  readTable,
  type Table,
  tableDataSet,
  type Target,
  unusableColumns,
} from '../data/table';
import {
  box,
  button,
  element,
  fillSelect,
  input,
  make,
  select,
  show,
  showProblem,
  formatShape,
  formatInteger,
} from '../dom';
import { isOfSameKind, useData } from '../editing';
import { isTraining, state, update, watch } from '../store';
import { adopt } from '../training';
import { clearFileProblems } from './file_problems';
import { begin } from './training';
import { type DataSet, isPlane, type Scale } from '../data/data_set';

let table: Table | undefined;
const maxFaults = 8;

/** How many digits to draw: 10,000, or ?digits=N of the page's URL. */
function digitCount(): number {
  const count = Number(new URLSearchParams(location.search).get('digits'));
  return Number.isInteger(count) && count >= 100 && count <= 100000 ? count : 10000;
}

function use(data: DataSet): void {
  const isOther = !isOfSameKind(data);
  if (isOther) adopt(undefined);
  useData(data);
  const { batchSize, epochs } = state.settings;
  const fitted = ` Batches of ${batchSize} and ${epochs} epochs fit so many.`;
  update({ confusion: undefined, weightsRevision: state.weightsRevision + 1 });
  const { train, test, source, shape, classes, target, scale } = data;
  const what = classes === undefined ? 'a value' : `one of ${classes.length} classes`;
  const text = [
    `${formatInteger(train.count)} examples to train on and ${formatInteger(test.count)} to validate with, from ` +
      `${source}. Each has ${formatShape(shape)} number${String(shape) === '1' ? '' : 's'}; ${target}, ${what}, is predicted.`,
    scale === undefined ? '' : describeScale(scale),
    isOther && table !== undefined ? fitted : '',
  ];
  show('data-text', text.join(''));
  update({ phase: 'idle', status: 'Ready' });
}

/** Describes the scaling of target values, as losses are in scaled units. */
function describeScale({ mean, deviation }: Scale): string {
  const [middle, unit] = [mean, deviation].map((value) => +value.toPrecision(4));
  return (
    ` For training its values are scaled to mean 0 and deviation 1 (${middle} is subtracted, the rest ` +
    `divided by ${unit}): the loss is in that unit, the results below are in the original one.`
  );
}

/** Runs an action unless a training runs; errors are displayed here, and the data remain unchanged. */
async function attempt(action: () => Promise<void>): Promise<void> {
  const { phase, status } = state;
  if (isTraining() || phase === 'busy') {
    return showProblem('data-problem', 'Stop the training first.');
  }
  clearFileProblems();
  update({ phase: 'busy', status: 'Reading …' });
  try {
    await action();
  } catch (error) {
    showProblem('data-problem', error);
  }
  if (state.phase === 'busy' && state.data !== undefined) update({ phase: 'idle', status });
}

async function draw(): Promise<void> {
  const progress = element('progress', HTMLProgressElement);
  const data = await drawDataSet(digitCount(), 1, (share) => {
    progress.value = share;
    update({ status: `Drawing digits, ${Math.round(100 * share)} %` });
  });
  progress.value = 0;
  showTable(undefined);
  use(data);
}

export const useDrawnDigits = () => attempt(draw);

export const useIdxFiles = (files: readonly File[]) =>
  attempt(async () => {
    const data = await readIdxDataSet(files);
    showTable(undefined);
    use(data);
  });

/** Points in the plane, with a training at once: its border is what is to be seen. */
async function useShape(key: string): Promise<void> {
  await attempt(async () => {
    showTable(undefined);
    adopt(undefined);
    use(shapeDataSet(key));
  });
  if (state.phase === 'idle' && state.data !== undefined && isPlane(state.data)) await begin();
}

/** Reads a table; the default target is the last column that can be predicted. Faulty rows are listed, to be left out. */
export const useCsvFile = (file: File, header: Header = 'unknown', skips = false) =>
  attempt(async () => {
    try {
      const read = await readTable(file, header, skips);
      const target = guessTarget(read);
      const data = tableDataSet(read, target);
      showTable(read, target);
      use(data);
    } catch (error) {
      if (error instanceof HeaderQuestion) {
        askForHeader(error.first, file);
        return;
      }
      if (error instanceof FaultyRows) showFaults(error.faults, file, header);
      throw error;
    }
  });

/** Asks whether the first line names the columns, where it may be a row. */
function askForHeader(first: readonly string[], file: File): void {
  show('first-line', first.join(', '));
  button('has-header').onclick = () => void useCsvFile(file, 'names');
  button('has-no-header').onclick = () => void useCsvFile(file, 'none');
  box('header-question').hidden = false;
  button('has-no-header').focus();
}

/** Errors of the rows of a file, and a button to continue without these rows. */
function showFaults(faults: readonly string[], file: File, header: Header): void {
  box('table-faults').hidden = false;
  const rest = faults.length - maxFaults;
  const items = faults.slice(0, maxFaults).map((fault) => make('li', {}, fault));
  if (rest > 0) items.push(make('li', {}, `and ${formatInteger(rest)} more`));
  box('faults').replaceChildren(...items);
  const button = element('skip-faults', HTMLButtonElement);
  button.textContent = faults.length === 1 ? 'Leave it out' : `Leave these ${faults.length} out`;
  button.onclick = () => void useCsvFile(file, header, true);
}

function showTable(read: Table | undefined, target?: Target): void {
  table = read;
  box('table-choice').hidden = read === undefined;
  if (read === undefined || target === undefined) return;
  fillSelect(select('target'), read.columns, target.column);
  select('target-kind').value = target.kind;
  const cells = (row: readonly unknown[], tag: 'th' | 'td') =>
    row.map((cell) => make(tag, tag === 'th' ? { scope: 'col' } : {}, String(cell)));
  const rows = read.rows.slice(0, 4).map((row) => make('tr', {}, ...cells(row, 'td')));
  const { leftOut } = read;
  const caption = make(
    'caption',
    {},
    `${formatInteger(read.rows.length)} rows, with ${read.delimiter} between the fields`,
  );
  const head = make('thead', {}, make('tr', {}, ...cells(read.columns, 'th')));
  const preview = make(
    'table',
    { className: 'preview' },
    caption,
    head,
    make('tbody', {}, ...rows),
  );
  box('table-preview').replaceChildren(preview);
  const rest =
    leftOut.length > maxFaults ? `; and ${formatInteger(leftOut.length - maxFaults)} more` : '';
  const left = `${formatInteger(leftOut.length)} left out: ${leftOut.slice(0, maxFaults).join('; ')}${rest}.`;
  const columns = [...read.leftOutColumns, ...unusableColumns(read, target.column)];
  const texts = [
    columns.length === 0 ? '' : `Columns left out: ${columns.join(', ')}.`,
    leftOut.length === 0 ? '' : left,
  ];
  show('left-out', texts.filter((text) => text !== '').join(' '));
}

/** Another column, or another kind of it; where it cannot be, the choice goes back. */
function chooseTarget(kind?: Target['kind']): void {
  const read = table;
  if (read === undefined) return;
  const column = select('target').value;
  const target: Target = { column, kind: kind ?? guessKind(read, column) };
  void attempt(async () => {
    use(tableDataSet(read, target));
    showTable(read, target);
  }).then(() => {
    const { data } = state;
    if (data === undefined) return;
    select('target').value = data.target;
    select('target-kind').value = data.classes === undefined ? 'values' : 'classes';
  });
}

function onFiles(id: string, onChosen: (files: File[]) => Promise<void>): void {
  input(id).addEventListener('change', () => {
    const files = [...(input(id).files ?? [])];
    input(id).value = '';
    if (files.length > 0) void onChosen(files);
  });
}

export function openData(): void {
  button('drawn').addEventListener('click', () => void useDrawnDigits());
  for (const [key, { name }] of Object.entries(shapes))
    select('shape').append(new Option(name, key));
  select('shape').addEventListener('change', () => {
    const key = select('shape').value;
    select('shape').value = '';
    if (key !== '') void useShape(key);
  });
  onFiles('idx-files', useIdxFiles);
  onFiles('csv-file', ([file]) => useCsvFile(file!));
  select('target').addEventListener('change', () => chooseTarget());
  select('target-kind').addEventListener('change', () =>
    chooseTarget(select('target-kind').value as Target['kind']),
  );
  watch(['phase'], () => {
    const isBusy = state.phase !== 'idle';
    for (const id of ['drawn', 'shape', 'idx-files', 'csv-file', 'target', 'target-kind']) {
      (box(id) as HTMLButtonElement).disabled = isBusy;
    }
  });
}
