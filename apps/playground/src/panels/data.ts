// Where the examples come from: drawn digits, idx files, or a CSV file of which a person says what to predict.
import { readIdxDataSet, drawDataSet } from '../data/digits';
import { guessKind, readTable, type Table, tableDataSet, type Target } from '../data/table';
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
  spellShape,
  whole,
} from '../dom';
import { isOfSameKind, takeData } from '../editing';
import { isTraining, state, update, watch } from '../store';
import { adopt } from '../training';
import type { DataSet } from '../data/data_set';

let table: Table | undefined;

/** How many digits to draw: 10,000, or what the address of the page says as ?digits=N. */
function digitCount(): number {
  const wanted = Number(new URLSearchParams(location.search).get('digits'));
  return Number.isInteger(wanted) && wanted >= 100 && wanted <= 100000 ? wanted : 10000;
}

function use(data: DataSet): void {
  if (!isOfSameKind(data)) adopt(undefined);
  takeData(data);
  update({ confusion: undefined, weightsRevision: state.weightsRevision + 1 });
  const { train, test, source, shape, classes, target } = data;
  const what = classes === undefined ? 'a value' : `one of ${classes.length} classes`;
  show(
    'data-text',
    `${whole(train.count)} examples to train on and ${whole(test.count)} to validate with, from ` +
      `${source}. Each has ${spellShape(shape)} numbers; ${target}, ${what}, is predicted.`,
  );
  update({ phase: 'idle', status: 'Ready' });
}

/** Does it unless a training runs; what fails is said here, and the data of before stay. */
async function attempt(action: () => Promise<void>): Promise<void> {
  const { phase, status } = state;
  if (isTraining() || phase === 'busy') {
    return showProblem('data-problem', 'Stop the training first.');
  }
  showProblem('data-problem', undefined);
  update({ phase: 'busy', status: 'Reading …' });
  try {
    await action();
  } catch (error) {
    showProblem('data-problem', error);
    if (state.data !== undefined) update({ phase: 'idle', status });
  }
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

/** Reads a table and predicts its last column until a person chooses another. */
export const useCsvFile = (file: File) =>
  attempt(async () => {
    const read = await readTable(file);
    const column = read.columns.at(-1)!;
    const target: Target = { column, kind: guessKind(read, column) };
    const data = tableDataSet(read, target);
    showTable(read, target);
    use(data);
  });

function showTable(read: Table | undefined, target?: Target): void {
  table = read;
  box('table-choice').hidden = read === undefined;
  if (read === undefined || target === undefined) return;
  fillSelect(select('target'), read.columns, target.column);
  select('target-kind').value = target.kind;
  const cells = (row: readonly unknown[], tag: 'th' | 'td') =>
    row.map((cell) => make(tag, tag === 'th' ? { scope: 'col' } : {}, String(cell)));
  const rows = read.rows.slice(0, 4).map((row) => make('tr', {}, ...cells(row, 'td')));
  const left = read.leftOut === 0 ? '' : `; ${whole(read.leftOut)} with an empty cell left out`;
  const caption = make('caption', {}, `${whole(read.rows.length)} rows${left}`);
  const head = make('thead', {}, make('tr', {}, ...cells(read.columns, 'th')));
  const preview = make(
    'table',
    { className: 'preview' },
    caption,
    head,
    make('tbody', {}, ...rows),
  );
  box('table-preview').replaceChildren(preview);
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

function onFiles(id: string, take: (files: File[]) => Promise<void>): void {
  input(id).addEventListener('change', () => {
    const files = [...(input(id).files ?? [])];
    input(id).value = '';
    if (files.length > 0) void take(files);
  });
}

export function openData(): void {
  button('drawn').addEventListener('click', () => void useDrawnDigits());
  onFiles('idx-files', useIdxFiles);
  onFiles('csv-file', ([file]) => useCsvFile(file!));
  select('target').addEventListener('change', () => chooseTarget());
  select('target-kind').addEventListener('change', () =>
    chooseTarget(select('target-kind').value as Target['kind']),
  );
  watch(['phase'], () => {
    const isBusy = state.phase !== 'idle';
    for (const id of ['drawn', 'idx-files', 'csv-file', 'target', 'target-kind']) {
      (box(id) as HTMLButtonElement).disabled = isBusy;
    }
  });
}
