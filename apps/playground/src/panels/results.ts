// Results on the validation data: a confusion matrix, images of examples, or predictions against target values.
import { featuresFor, isImage, unscaled } from '../data/data_set';
import { box, element, make, percent, show, formatInteger } from '../dom';
import { isCurrent, state, watch } from '../store';
import { paint } from './images';
import { scatter } from './scatter';

const maxExamples = 40;
const grid = element('grid', HTMLUListElement);

/** The counts, or without them the table as it will be. */
function showMatrix(
  counts: readonly number[][],
  classes: readonly string[],
  className = 'matrix',
): void {
  const head = (text: string, scope: string) => make('th', { scope }, text);
  const rows = counts.map((row, label) => {
    const total = row.reduce((sum, count) => sum + count, 0);
    const cells = row.map((count, prediction) => {
      const share = total === 0 ? 0 : count / total;
      const cell = make(
        'td',
        { className: prediction === label ? 'right' : 'off' },
        count === 0 ? '' : String(count),
      );
      cell.style.setProperty('--share', share.toFixed(3));
      cell.title = `${classes[label]} taken for ${classes[prediction]}: ${count} of ${total}`;
      return cell;
    });
    const recall = total === 0 ? '–' : `${Math.round((100 * row[label]!) / total)} %`;
    return make(
      'tr',
      {},
      head(classes[label]!, 'row'),
      ...cells,
      make('td', { className: 'recall' }, recall),
    );
  });
  const top = make(
    'tr',
    {},
    make('th', { scope: 'col' }, 'true \\ predicted'),
    ...classes.map((name) => head(name, 'col')),
    make('th', { scope: 'col' }, 'right'),
  );
  const caption = make(
    'caption',
    {},
    'Confusion matrix: rows are true classes, columns predicted classes',
  );
  const table = make(
    'table',
    { className },
    caption,
    make('thead', {}, top),
    make('tbody', {}, ...rows),
  );
  box('confusion').replaceChildren(table);
}

function showVerdict(counts: readonly number[][]): void {
  const all = counts.flat().reduce((sum, count) => sum + count, 0);
  const right = counts.reduce((sum, row, at) => sum + row[at]!, 0);
  show(
    'results-text',
    `${formatInteger(right)} of ${formatInteger(all)} are right, ${percent(right / all)}.`,
  );
}

/** Predictions of the first examples: classes, or values. */
function predictFirst(count: number): number[] {
  const { trained, data } = state;
  const x = featuresFor(trained!.model, data!, data!.test, 0, count);
  const values = trained!.model.predict(x, { batchSize: state.settings.predictSize });
  const width = values.size / count;
  const numbers = values.dataSync() as Float32Array;
  return Array.from({ length: count }, (_, row) => {
    if (width === 1)
      return data!.classes === undefined ? numbers[row]! : Number(numbers[row]! > 0.5);
    const scores = numbers.subarray(row * width, (row + 1) * width);
    return scores.indexOf(Math.max(...scores));
  });
}

function showGrid(predicted: readonly number[] | undefined): void {
  const data = state.data!;
  const [height, width] = data.shape as [number, number];
  const size = data.shape.reduce((total, n) => total * n, 1);
  const { features, labels, count } = data.test;
  const names = data.classes!;
  const items = Array.from({ length: Math.min(maxExamples, count) }, (_, at) => {
    const canvas = make('canvas', { width, height });
    paint(canvas, features.subarray(at * size, (at + 1) * size));
    const label = names[labels[at]!]!;
    const prediction = predicted === undefined ? undefined : names[predicted[at]!]!;
    const isWrong = prediction !== undefined && prediction !== label;
    const text =
      prediction === undefined ? label : isWrong ? `${label} → ${prediction}` : prediction;
    const spoken =
      prediction === undefined ? `a ${label}` : `a ${label}, taken for a ${prediction}`;
    canvas.setAttribute('role', 'img');
    canvas.ariaLabel = `${spoken}${isWrong ? ', wrong' : ''}`;
    return make('li', { className: isWrong ? 'wrong' : '' }, canvas, make('span', {}, text));
  });
  grid.replaceChildren(...items);
}

/** No result yet: reserves the space for it. */
function showNothing(): void {
  const { classes = [] } = state.data!;
  box('confusion').replaceChildren();
  if (classes.length > 0)
    showMatrix(
      classes.map(() => classes.map(() => 0)),
      classes,
      'matrix blank',
    );
  show('results-text', 'They appear after the first epoch, and are new after each.');
}

function showAll(): void {
  const { data, trained, confusion } = state;
  if (data === undefined) return;
  const hasModel = trained !== undefined && state.weightsRevision > 0 && isUsable();
  grid.hidden = !isImage(data);
  if (confusion !== undefined && data.classes !== undefined) {
    showMatrix(confusion, data.classes);
    showVerdict(confusion);
  } else if (hasModel && data.classes === undefined) {
    const count = Math.min(500, data.test.count);
    const inItsUnit = (value: number) =>
      data.scale === undefined ? value : unscaled(value, data.scale);
    const truth = Array.from(data.test.labels.subarray(0, count), inItsUnit);
    const predicted = predictFirst(count).map(inItsUnit);
    box('confusion').replaceChildren(scatter(truth, predicted, data.target));
    show('results-text', `Predictions for ${formatInteger(count)} examples.`);
  } else showNothing();
  if (isImage(data))
    showGrid(hasModel ? predictFirst(Math.min(maxExamples, data.test.count)) : undefined);
}

/** A loaded model may be for other data. */
function isUsable(): boolean {
  return isCurrent() || state.confusion !== undefined;
}

export const openResults = () =>
  watch(['data', 'trained', 'weightsRevision', 'confusion'], showAll);
