/**
 * Figures of models, trainings and tensors: text for terminals, SVG and HTML for pages and notebooks.
 *
 * @module tensorlathe/show
 */
import { LatheError } from '../base/errors.js';
import { isPromise, kindOf } from '../base/kinds.js';
import { checkOptions } from '../base/options.js';
import type { Figure } from './figure.js';
import { type HistoryLike, showHistory } from './history.js';
import { type ModelLike, showModel } from './model.js';
import { showTensor, type TensorLike } from './tensor.js';

export type { Figure } from './figure.js';

/** Options of `show`. */
export interface ShowOptions {
  /** What stands above the figure. Default: the name of the model, or the kind of what is shown. */
  title?: string;
}

/** What `show` accepts, of this package or of TensorFlow.js. */
export type Showable = ModelLike | HistoryLike | TensorLike;

const has = (value: object, ...names: string[]): boolean =>
  names.every((name) => (value as Record<string, unknown>)[name] != null);

/**
 * A figure of a model of layers (its graph), of the history of `fit` (a chart for each metric) or of a tensor (an image where it has
 * the shape of one, else its numbers). `console.log(show(history))` prints it in a terminal; `svg` and `html` are for pages;
 * Jupyter with Deno displays it.
 *
 * Error: anything else; an unknown option.
 */
export function show(value: Showable, options: ShowOptions = {}): Figure {
  checkOptions('show', options, { title: true });
  if (typeof value === 'object' && value !== null) {
    if (has(value, 'layers', 'outputs')) {
      const model = value as ModelLike;
      return showModel(model, options.title ?? model.name);
    }
    if (has(value, 'history'))
      return showHistory(value as HistoryLike, options.title ?? 'Training');
    if (has(value, 'shape', 'dtype', 'dataSync'))
      return showTensor(value as TensorLike, options.title ?? 'Tensor');
  }
  const hint = isPromise<unknown>(value) ? 'a promise: await it' : kindOf(value);
  throw new LatheError(
    `show: needs a model of layers, the history of fit or a tensor; got ${hint}`,
  );
}
