// A guess of the network about one example: a bar for each class, and how sure it may be.
import * as tl from 'tensorlathe';
import { unscaled } from '../data/data_set';
import { box, element, make, messageOf, show } from '../dom';
import { familiarityOf, perplexity, unfamiliarText } from '../familiarity';
import { state } from '../store';

/** From here on it is not sure: as if of two classes one had three quarters. */
const unsure = 1.75;
const maxBars = 12;

/** Outputs of a network without softmax are no probabilities yet. */
function normalized(values: readonly number[]): number[] {
  if (values.length === 1) return [1 - values[0]!, values[0]!];
  const sum = values.reduce((total, value) => total + value, 0);
  if (values.every((value) => value >= 0) && Math.abs(sum - 1) < 0.01) return [...values];
  const powers = values.map((value) => Math.exp(value - Math.max(...values)));
  const total = powers.reduce((all, value) => all + value, 0);
  return powers.map((power) => power / total);
}

/** The outputs of the trained network for examples: probabilities, or one value. Error: they do not fit it. */
export function outputsFor(examples: Float32Array, count: number, batchSize = count): number[][] {
  const { model } = state.trained!;
  const shape = model.inputs[0]!.shape.slice(1) as number[];
  const result = model.predict(tl.tensor(examples, [count, ...shape]), { batchSize });
  const values = [...result.dataSync()] as number[];
  const width = values.length / count;
  const isClasses = state.data?.classes !== undefined;
  return Array.from({ length: count }, (_, at) => {
    const row = values.slice(at * width, (at + 1) * width);
    return isClasses ? normalized(row) : row;
  });
}

/** The text and bars of a guess, in elements of these names. */
export class Guess {
  readonly #bars: HTMLOListElement;
  #classes: readonly string[] = [];

  constructor(
    private readonly text: string,
    bars: string,
  ) {
    this.#bars = element(bars, HTMLOListElement);
  }

  /** A bar for each class. */
  useClasses(classes: readonly string[] = []): void {
    if (String(classes) === String(this.#classes)) return;
    this.#classes = classes;
    const items = classes.map((name) =>
      make('li', {}, make('b', { title: name }, name), make('div', {}, make('i')), make('span')),
    );
    this.#bars.replaceChildren(...items.slice(0, maxBars));
  }

  #showBars(probabilities: readonly number[] | undefined): void {
    const best = probabilities?.indexOf(Math.max(...probabilities));
    [...this.#bars.children].forEach((bar, at) => {
      const share = Math.round(100 * (probabilities?.[at] ?? 0));
      bar.classList.toggle('best', at === best);
      bar.ariaLabel = `${this.#classes[at]}: ${share} percent`;
      bar.querySelector('i')!.style.width = `${share}%`;
      bar.querySelector('span')!.textContent = probabilities === undefined ? '' : `${share} %`;
    });
  }

  #verdict(probabilities: readonly number[], example: Float32Array): string {
    if (!familiarityOf(state.data!).has(example)) return unfamiliarText(state.data!);
    const order = [...probabilities.keys()].sort((a, b) => probabilities[b]! - probabilities[a]!);
    const [first, second] = order.map(
      (at) => `${this.#classes[at]} (${Math.round(100 * probabilities[at]!)}\u00a0%)`,
    );
    if (perplexity(probabilities) > unsure) return `Not sure: ${first}, or ${second}`;
    return `${this.#classes[order[0]!]}, I think (${Math.round(100 * probabilities[order[0]!]!)}\u00a0%)`;
  }

  /** The guess about an example of the current data, or what to say without one. */
  about(example: Float32Array | undefined, otherwise: string): void {
    const { trained, data } = state;
    const none = (text: string) => {
      this.#showBars(undefined);
      show(this.text, text);
      box(this.text).classList.remove('unsure');
    };
    if (example === undefined) return none(otherwise);
    if (trained === undefined || data === undefined) return none('It has learned nothing yet');
    try {
      const [values] = outputsFor(example, 1);
      if (data.classes === undefined) {
        this.#showBars(undefined);
        const value = data.scale === undefined ? values![0]! : unscaled(values![0]!, data.scale);
        const isKnown = familiarityOf(data).has(example);
        show(this.text, `${data.target} ≈ ${+value.toPrecision(4)}`);
        if (!isKnown) box(this.text).append('. ', unfamiliarText(data));
        box(this.text).classList.toggle('unsure', !isKnown);
        return;
      }
      this.#showBars(values);
      const text = this.#verdict(values!, example);
      show(this.text, text);
      box(this.text).classList.toggle('unsure', text.startsWith('Not sure'));
    } catch (error) {
      none(messageOf(error));
    }
  }
}
