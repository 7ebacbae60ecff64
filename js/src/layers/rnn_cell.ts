/** Custom recurrent cells in JavaScript, and the layer that runs any cell over the steps. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig } from '../core/abi.js';
import { CustomLayer, isCustom } from './custom_layer.js';
import { loadedDeferred } from './deferred.js';
import type { LayerArgs } from './base_args.js';
import { Layer } from './layer.js';
import type { RNNArgs } from './layer_args.js';
import { readOptions } from './layer_options.js';

/**
 * Base class of cells in JavaScript, `tl.layers.RNNCell`, for `tl.layers.rnn`: `call([x, ...states])` maps a step [rows,
 * features] and the states [rows, size] to `[output, ...states]`, the output of the shape of the first state.
 */
export abstract class RNNCell extends CustomLayer {
  /** Size of the state; an array for several states. */
  abstract stateSize: number | readonly number[];

  /** @internal */
  override describe(name: string, frozen: boolean): LayerConfig {
    const plain = super.describe(name, frozen);
    return { ...plain, host: { ...plain.host, stateSize: this.stateSize } };
  }
}

/** Options of `layers.rnn`; an array of cells is stacked. */
export interface AnyCellArgs extends Omit<RNNArgs, 'cell'> {
  cell: Layer | readonly Layer[];
}

/** The layer of `layers.rnn`. Error: no cell, or one without stateSize. */
export class RNN extends Layer {
  constructor(args: AnyCellArgs) {
    const cellOrCells = args?.cell;
    const cells = [cellOrCells].flat() as object[];
    if (!cells.every((cell) => cell instanceof Layer)) {
      throw new LatheError('layers.rnn: cell must be a recurrent cell, or an array of them');
    }
    if (cells.some((cell) => isCustom(cell) && !('stateSize' in cell))) {
      throw new LatheError('layers.rnn: the cell needs stateSize, the numbers of each state');
    }
    const cell = Array.isArray(cellOrCells)
      ? new Layer('StackedRNNCells', { cells } as LayerArgs)
      : cellOrCells;
    const options = readOptions('rnn', 'RNN', { ...args, cell } as LayerArgs);
    loadedDeferred()?.checkLayer('rnn', 'RNN', options);
    super('RNN', options);
    loadedDeferred()?.showOptions(this);
  }

  /** The cell; a stack of several cells. */
  get cell(): Layer {
    return (this.options as { cell: Layer }).cell;
  }
}
