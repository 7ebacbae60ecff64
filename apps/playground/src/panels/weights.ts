// The weights as pictures: filters of convolutions, what each unit looks for in an image, any other matrix as it is.
import { isImage, sizeOf } from '../data/data_set';
import { box, make, onThemeChange, select, show, spellShape, whole } from '../dom';
import { state, watch } from '../store';
import { paintWeights } from './images';

const mostTiles = 40;

interface Weight {
  label: string;
  shape: readonly number[];
  values: Float32Array;
}

/** A row of pictures of one size. */
interface Pictures {
  height: number;
  width: number;
  count: number;
  /** Where in the weights a pixel of a picture is. */
  place: (picture: number, pixel: number) => number;
  what: string;
}

/** The weights with two axes or more, of all layers. */
function weights(): Weight[] {
  const layers = state.trained?.model.layers ?? [];
  return layers.flatMap((layer) =>
    layer
      .getWeights()
      .filter(({ shape }) => shape.length >= 2)
      .map((weight, at) => ({
        label: `${layer.name}${at === 0 ? '' : `, ${at + 1}`}: ${spellShape(weight.shape)}`,
        shape: weight.shape,
        values: weight.dataSync() as Float32Array,
      })),
  );
}

/** How to show weights of this shape. */
function picturesOf({ shape, values }: Weight): Pictures {
  const { data } = state;
  const [first, second] = shape as [number, number];
  if (shape.length === 4) {
    const [, , channels, filters] = shape as [number, number, number, number];
    return {
      height: first,
      width: second,
      count: filters * channels,
      place: (picture, pixel) =>
        (pixel * channels + Math.floor(picture / filters)) * filters + (picture % filters),
      what: `${filters} filters of ${first} × ${second}${channels === 1 ? '' : `, for each of ${channels} channels`}`,
    };
  }
  if (shape.length === 2 && data !== undefined && isImage(data) && first === sizeOf(data.shape)) {
    const [height, width, channels] = data.shape as [number, number, number];
    return {
      height,
      width,
      count: second,
      place: (unit, pixel) => pixel * channels * second + unit,
      what: `what each of ${second} units looks for in an image`,
    };
  }
  const columns = shape.at(-1)!;
  return {
    height: values.length / columns,
    width: columns,
    count: 1,
    place: (_, pixel) => pixel,
    what: `a matrix of ${whole(values.length / columns)} × ${whole(columns)}`,
  };
}

function showWeight(): void {
  const weight = weights()[select('weights-of').selectedIndex];
  const place = box('weight-images');
  if (weight === undefined) {
    place.replaceChildren();
    show('weights-text', 'Train, or load a model, to see its weights.');
    return;
  }
  const { height, width, count, place: at, what } = picturesOf(weight);
  const largest = weight.values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const pictures = Array.from({ length: Math.min(count, mostTiles) }, (_, number) => {
    const picture = make('canvas', { width, height, role: 'img' });
    picture.ariaLabel = `Picture ${number + 1} of ${count}`;
    paintWeights(picture, (pixel) => weight.values[at(number, pixel)]!, largest);
    return picture;
  });
  place.classList.toggle('single', count === 1);
  place.replaceChildren(...pictures);
  const rest = count > mostTiles ? `, the first ${mostTiles} of ${count}` : '';
  show('weights-text', `${what}${rest}; the strongest is ±${largest.toPrecision(3)}.`);
}

function showAll(): void {
  const chooser = select('weights-of');
  const labels = weights().map(({ label }) => label);
  const known = [...chooser.options].map((option) => option.value);
  if (labels.join() !== known.join()) {
    chooser.replaceChildren(...labels.map((label) => new Option(label, label)));
  }
  chooser.disabled = labels.length === 0;
  showWeight();
}

export function openWeights(): void {
  select('weights-of').addEventListener('change', showWeight);
  watch(['trained', 'weightsRevision'], showAll);
  onThemeChange(showWeight);
}
