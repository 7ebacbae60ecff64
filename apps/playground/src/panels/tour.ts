// What happened on this page, for a person who has never heard of it: six steps with pictures of the data at hand.
import { isImage, isPlane, sizeOf } from '../data/data_set';
import { box, button, element, formatInteger, make, show } from '../dom';
import { state } from '../store';
import { stepsPerEpoch } from '../training';
import { paint, paintWeights } from './images';

interface Step {
  title: string;
  text: string;
  picture: () => HTMLElement[];
}

const dialog = element('tour', HTMLDialogElement);
const maxTiles = 12;
let steps: Step[] = [];
let at = 0;

/** Images with a word below each; rows of a table where the examples are no images. */
function examples(): HTMLElement[] {
  const { shape, train, classes } = state.data!;
  if (!isImage(state.data!)) return [copyOf(isPlane(state.data!) ? 'plane-map' : 'table-preview')];
  const [height, width] = shape as [number, number];
  const size = sizeOf(shape);
  return Array.from({ length: maxTiles }, (_, index) => {
    const picture = make('canvas', { width, height, role: 'img', ariaLabel: 'An example' });
    paint(picture, train.features.subarray(index * size, (index + 1) * size));
    return make('figure', {}, picture, make('figcaption', {}, classes![train.labels[index]!]!));
  });
}

/** A copy of a part of the page as it is now: an image of a canvas, other elements as they are. */
function copyOf(id: string): HTMLElement {
  const found = box(id);
  const source = found instanceof HTMLCanvasElement ? found : found.querySelector('canvas');
  if (source === null) {
    const copy = found.cloneNode(true) as HTMLElement;
    for (const each of [copy, ...copy.querySelectorAll('[id]')]) each.removeAttribute('id');
    return copy;
  }
  const { width, height } = source;
  const label = found.ariaLabel ?? 'A part of this page';
  const copy = make('canvas', {
    width,
    height,
    className: 'wide-picture',
    role: 'img',
    ariaLabel: label,
  });
  if (width > 0) copy.getContext('2d')!.drawImage(source, 0, 0);
  return copy;
}

const randomWeights = () =>
  Array.from({ length: maxTiles }, () => {
    const tile = make('canvas', {
      width: 10,
      height: 10,
      role: 'img',
      ariaLabel: 'Random weights',
    });
    paintWeights(tile, () => 2 * Math.random() - 1, 1);
    return make('figure', {}, tile);
  });

/** What a network says that knows nothing: all about alike. */
function blindGuess(): HTMLElement[] {
  const names = (state.data!.classes ?? ['too little', 'right', 'too much']).slice(0, 10);
  const items = names.map((name) => {
    const bar = make('i');
    const share = 100 / names.length + 6 * Math.random() - 3;
    bar.style.width = `${share}%`;
    return make(
      'li',
      {},
      make('b', {}, name),
      make('div', {}, bar),
      make('span', {}, `${Math.round(share)} %`),
    );
  });
  return [make('ol', { className: 'bars tour-bars', ariaLabel: 'A guess' }, ...items)];
}

/** New examples with its guesses. */
function tested(): HTMLElement[] {
  const items = [...box('grid').children].slice(0, maxTiles);
  if (!isImage(state.data!) || items.length === 0) return [copyOf('accuracy-plot')];
  return items.map((item) => {
    const source = item.querySelector('canvas')!;
    const { width, height } = source;
    const picture = make('canvas', {
      width,
      height,
      role: 'img',
      ariaLabel: source.ariaLabel ?? '',
    });
    picture.getContext('2d')!.drawImage(source, 0, 0);
    const className = item.className;
    return make('figure', { className }, picture, make('figcaption', {}, item.textContent ?? ''));
  });
}

/** Numbers of the page, large. */
const facts = () =>
  [
    ['module-size', 'its size'],
    ['compile-time', 'to write it'],
    ['speed', 'examples a second'],
  ].map(([id, name]) =>
    make(
      'figure',
      { className: 'fact' },
      box(id!).textContent ?? '',
      make('figcaption', {}, name!),
    ),
  );

function makeSteps(): Step[] {
  const { data, checked, confusion, trained } = state;
  const { train, test } = data!;
  const what = isImage(data!) ? 'images' : isPlane(data!) ? 'points' : 'rows';
  const weights = formatInteger(checked?.params ?? 0);
  const done = (trained?.model.epochsTrained ?? 0) * stepsPerEpoch();
  const right = confusion?.reduce((sum, row, index) => sum + row[index]!, 0);
  return [
    {
      title: 'It begins with examples',
      text: `Here are ${formatInteger(train.count)} ${what}, each with its answer. Nobody tells the network a rule. Examples are all it gets.`,
      picture: examples,
    },
    {
      title: 'A network is a lot of numbers',
      text: `This one has ${weights}, its weights. They begin at random: teal is above zero, orange below.`,
      picture: randomWeights,
    },
    {
      title: 'It guesses',
      text: 'An example is multiplied with the weights, layer after layer. What comes out is a guess. At first all answers look alike to it.',
      picture: blindGuess,
    },
    {
      title: 'It is corrected',
      text: `The error of a guess is the loss. Each weight moves a little so that the loss shrinks. That is one step${done > 0 ? `; here it took ${formatInteger(done)}` : ''}.`,
      picture: () => [copyOf('loss-plot')],
    },
    {
      title: 'It is tested',
      text:
        `It has never seen these ${formatInteger(test.count)} ${what}. ` +
        (right === undefined
          ? 'Train it, and see how many it gets right.'
          : `It is right about ${formatInteger(right)} of them: it has learned, not memorized.`),
      picture: tested,
    },
    {
      title: 'It runs as a program of its own',
      text: 'Tensorlathe, the compiler in this page, wrote one WebAssembly program for exactly this network. That is why it is fast, and your data never left this device.',
      picture: facts,
    },
  ];
}

function showStep(): void {
  const { title, text, picture } = steps[at]!;
  show('tour-title', title);
  show('tour-text', text);
  show('tour-count', `${at + 1} of ${steps.length}`);
  box('tour-picture').replaceChildren(...picture());
  button('tour-back').disabled = at === 0;
  show('tour-next', at + 1 === steps.length ? 'Done' : 'Next');
}

function go(by: number): void {
  at += by;
  if (at >= steps.length) return dialog.close();
  at = Math.max(0, at);
  showStep();
}

/** Begins the tour with what the page shows now. */
export function beginTour(): void {
  if (state.data === undefined) return;
  steps = makeSteps();
  at = 0;
  button('tour-back').onclick = () => go(-1);
  button('tour-next').onclick = () => go(1);
  button('tour-close').onclick = () => dialog.close();
  showStep();
  dialog.showModal();
  button('tour-next').focus();
}
