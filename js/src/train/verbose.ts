/** Whether and how training shows its progress: the option `verbose`. */
import { terminal } from '../base/terminal.js';
import type { TrainingCallbacks } from './history.js';

/** Marks callbacks that show progress, beside which `fit` adds none. */
export const showsProgress = /* @__PURE__ */ Symbol('progress');

/** Models whose training prints nothing by itself. */
const quietModels = /* @__PURE__ */ new WeakSet<object>();

/** Marks a model as one of `tensorlathe/tfjs`, whose training prints nothing, as in TensorFlow.js. */
export function trainQuietly<Model extends object>(model: Model): Model {
  quietModels.add(model);
  return model;
}

/**
 * The callbacks, with one that prints where `verbose` says so: 1 a line that is rewritten, 2 a line an epoch, 0 nothing. Default: 1 on a
 * terminal, else 0. Nothing for models of `trainQuietly`.
 */
export async function withProgress<Model extends object>(
  model: Model,
  callbacks: TrainingCallbacks<Model> | readonly TrainingCallbacks<Model>[] | null | undefined,
  verbose: number | boolean | undefined,
): Promise<TrainingCallbacks<Model>[]> {
  const all = [callbacks ?? []].flat() as TrainingCallbacks<Model>[];
  const level = Number(verbose ?? (terminal()?.isTTY ? 1 : 0));
  if (quietModels.has(model) || !(level > 0) || all.some((each) => showsProgress in each))
    return all;
  const { progress } = await import('./progress.js');
  return [progress(level) as TrainingCallbacks<Model>, ...all];
}
