/** Options of the training methods of models. */
import type { FitOptions } from '../train/fit.js';
import type { FitDatasetOptions } from '../train/fit_dataset.js';
import type { LayersModel } from './model.js';

/** Options of `model.fit`. */
export interface FitArgs extends FitOptions<LayersModel> {}

/** Options of `model.fitDataset`. */
export interface FitDatasetArgs extends FitDatasetOptions<LayersModel> {}
