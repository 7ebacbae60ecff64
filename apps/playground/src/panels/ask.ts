// A row of the user's own for a network that has learned a table: its answer follows every key.
import { type Column, decodeRow, encodeRow } from '../data/columns';
import { type DataSet, isPlane, sizeOf, unscaled } from '../data/data_set';
import { box, button, element, fillSelect, make, messageOf, show } from '../dom';
import { state, update, watch } from '../store';
import { listen } from '../training';
import { Guess } from './guess';

const fields = element('ask-fields', HTMLFormElement);
const guess = new Guess('answer', 'answer-bars');
let shownRow = 0;

const controls = () => [...fields.querySelectorAll<HTMLInputElement>('input, select')];

const hasTable = ({ columns }: DataSet): boolean => columns !== undefined;

function field(column: Column): HTMLElement {
  if (column.kind === 'number') {
    const control = make('input', { type: 'text', inputMode: 'decimal', autocomplete: 'off' });
    return make('label', {}, column.name, control);
  }
  const control = make('select');
  fillSelect(control, column.words);
  return make('label', {}, column.name, control);
}

/** The entries as features; the answer explains what is wrong with them. */
function example(): Float32Array | undefined {
  const { columns = [] } = state.data!;
  try {
    return encodeRow(
      columns,
      controls().map(({ value }) => value),
    );
  } catch (error) {
    show('ask-truth', '');
    guess.about(undefined, messageOf(error));
    return undefined;
  }
}

function answer(): void {
  if (state.data === undefined || !hasTable(state.data)) return;
  const features = example();
  update({ example: features });
  if (features !== undefined) guess.about(features, '');
}

/** Fills in the next row that the network has not learned from. */
function fillIn(): void {
  const { columns = [], test, shape, classes, scale, target } = state.data!;
  const size = sizeOf(shape);
  const row = shownRow++ % test.count;
  const entries = decodeRow(columns, test.features.subarray(row * size, (row + 1) * size));
  controls().forEach((control, at) => (control.value = entries[at]!));
  const label = test.labels[row]!;
  const truth = classes?.[label] ?? String(+unscaled(label, scale!).toPrecision(6));
  show('ask-truth', `In the file its ${target} is ${truth}.`);
  answer();
}

function showData(): void {
  const { data } = state;
  const isAsked = data !== undefined && hasTable(data) && !isPlane(data);
  box('ask').hidden = !isAsked;
  if (!isAsked) return;
  guess.useClasses(data.classes);
  fields.replaceChildren(...data.columns!.map(field));
  shownRow = 0;
  fillIn();
}

export function openAsk(): void {
  fields.addEventListener('submit', (event) => event.preventDefault());
  fields.addEventListener('input', () => {
    show('ask-truth', '');
    answer();
  });
  button('ask-fill').addEventListener('click', fillIn);
  watch(['data'], showData);
  watch(['trained', 'weightsRevision'], answer);
  listen({ onProgress: answer });
}
