// Weights as images: filters of convolutions, input weights of units that read an image, other matrices directly.
import type * as tl from 'tensorlathe';
import { isImage, sizeOf } from '../data/data_set';
import { box, make, onThemeChange, select, show, formatShape, formatInteger } from '../dom';
import { build, isRow, isSound } from '../network';
import { state, watch } from '../store';
import { paintWeights } from './images';

const maxTiles = 40;
let known: Weight[] = [];

interface Weight {
  label: string;
  shape: readonly number[];
  values: Float32Array;
}

/** Images of one size. */
interface ImageGrid {
  height: number;
  width: number;
  count: number;
  /** Index of an image's pixel in the weights. */
  indexOf: (image: number, pixel: number) => number;
  what: string;
}

/** The weights with two axes or more, of all layers of a model. */
const weightsOf = ({ layers }: tl.LayersModel): Weight[] =>
  layers.flatMap((layer) =>
    layer
      .getWeights()
      .filter(({ shape }) => shape.length >= 2)
      .map((weight, at) => ({
        label: `${layer.name}${at === 0 ? '' : `, ${at + 1}`}: ${formatShape(weight.shape)}`,
        shape: weight.shape,
        values: weight.dataSync() as Float32Array,
      })),
  );

/** The weights of the trained model, or those that a training would begin with. */
function weights(): Weight[] {
  const { trained, network, data, checked } = state;
  if (trained !== undefined) return weightsOf(trained.model);
  if (data === undefined || !isRow(network) || !isSound(checked)) return [];
  const model = build(network, data, 1);
  try {
    return weightsOf(model);
  } finally {
    model.dispose();
  }
}

/** How to show weights of this shape. */
function imageGridOf({ shape, values }: Weight): ImageGrid {
  const { data } = state;
  const [first, second] = shape as [number, number];
  if (shape.length === 4) {
    const [, , channels, filters] = shape as [number, number, number, number];
    return {
      height: first,
      width: second,
      count: filters * channels,
      indexOf: (image, pixel) =>
        (pixel * channels + Math.floor(image / filters)) * filters + (image % filters),
      what: `${filters} filters of ${first} × ${second}${channels === 1 ? '' : `, for each of ${channels} channels`}`,
    };
  }
  if (shape.length === 2 && data !== undefined && isImage(data) && first === sizeOf(data.shape)) {
    const [height, width, channels] = data.shape as [number, number, number];
    return {
      height,
      width,
      count: second,
      indexOf: (unit, pixel) => pixel * channels * second + unit,
      what: `what each of ${second} units looks for in an image`,
    };
  }
  const columns = shape.at(-1)!;
  return {
    height: values.length / columns,
    width: columns,
    count: 1,
    indexOf: (_, pixel) => pixel,
    what: `a matrix of ${formatInteger(values.length / columns)} × ${formatInteger(columns)}`,
  };
}

function showWeight(): void {
  const weight = known[select('weights-of').selectedIndex];
  const container = box('weight-images');
  if (weight === undefined) {
    container.replaceChildren();
    show('weights-text', 'Train, or load a model, to see its weights.');
    return;
  }
  const { height, width, count, indexOf, what } = imageGridOf(weight);
  const largest = weight.values.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  const images = Array.from({ length: Math.min(count, maxTiles) }, (_, number) => {
    const canvas = make('canvas', { width, height, role: 'img' });
    canvas.ariaLabel = `Image ${number + 1} of ${count}`;
    paintWeights(canvas, (pixel) => weight.values[indexOf(number, pixel)]!, largest);
    return canvas;
  });
  container.classList.toggle('single', count === 1);
  container.replaceChildren(...images);
  const rest = count > maxTiles ? `, the first ${maxTiles} of ${count}` : '';
  const when = state.trained === undefined ? 'Random, before the training: ' : '';
  show('weights-text', `${when}${what}${rest}; the strongest is ±${largest.toPrecision(3)}.`);
}

function showAll(): void {
  const chooser = select('weights-of');
  known = weights();
  const labels = known.map(({ label }) => label);
  const existing = [...chooser.options].map((option) => option.value);
  if (labels.join() !== existing.join()) {
    chooser.replaceChildren(...labels.map((label) => new Option(label, label)));
  }
  chooser.disabled = labels.length === 0;
  showWeight();
}

export function openWeights(): void {
  select('weights-of').addEventListener('change', showWeight);
  watch(['trained', 'weightsRevision', 'checked'], showAll);
  onThemeChange(showWeight);
}
