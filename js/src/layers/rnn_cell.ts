/** Recurrent cells written in JavaScript, and the layer that runs any cell over the steps. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig } from '../core/abi.js';
import { CustomLayer, isCustom } from './custom_layer.js';
import { extrasAtHand } from './extras.js';
import { Layer, type LayerArgs } from './layer.js';
import type { RNNArgs } from './layer_args.js';
import { readOptions } from './layer_options.js';

/**
 * Base class of cells in JavaScript, `tl.layers.RNNCell`, for `tl.layers.rnn`: `call([x, ...states])` takes a step [rows,
 * features] and the states [rows, size] and gives `[output, ...states]`, the output of the shape of the first state.
 */
export abstract class RNNCell extends CustomLayer {
  /** Numbers of each row in the state; of several states a list. */
  abstract stateSize: number | readonly number[];

  /** @internal */
  override describe(name: string, frozen: boolean): LayerConfig {
    const plain = super.describe(name, frozen);
    return { ...plain, host: { ...plain.host, stateSize: this.stateSize } };
  }
}

/** What `layers.rnn` takes beside the options of every layer; a list of cells is a stack of them. */
export interface AnyCellArgs extends Omit<RNNArgs, 'cell'> {
  cell: Layer | readonly Layer[];
}

/** The layer that `layers.rnn` makes. Error: no cell, or one without stateSize. */
export class RNN extends Layer {
  constructor(args: AnyCellArgs) {
    const given = args?.cell;
    const cells = [given].flat() as object[];
    if (!cells.every((cell) => cell instanceof Layer)) {
      throw new LatheError('layers.rnn: cell must be a recurrent cell, or an array of them');
    }
    if (cells.some((cell) => isCustom(cell) && !('stateSize' in cell))) {
      throw new LatheError('layers.rnn: the cell needs stateSize, the numbers of each state');
    }
    const cell = Array.isArray(given)
      ? new Layer('StackedRNNCells', { cells } as LayerArgs)
      : given;
    super('RNN', readOptions('rnn', { ...args, cell } as LayerArgs));
    extrasAtHand()?.showOptions(this);
  }

  /** What runs over the steps; of several cells the stack of them. */
  get cell(): Layer {
    return (this.options as { cell: Layer }).cell;
  }
}
