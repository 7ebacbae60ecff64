// Time per layer: a copy of the network is trained for some steps in a module with timing.
import * as tl from 'tensorlathe';
import { type DataSet, featuresFor, labelsFor } from './data/data_set';
import { nextTask } from './dom';
import type { Part } from './module_forms';
import { build, type Network } from './network';
import type { Settings } from './store';
import { compile } from './training';

export const phases = ['forward', 'backward', 'update'] as const;
export type Phase = (typeof phases)[number];

/** The measurement: milliseconds of one step, by layer. */
export interface Measured {
  layers: tl.LayerTimes[];
  steps: number;
  batch: number;
  /** The IR and code of the layers. */
  forms: Map<string, Part>;
}

/** Warm-up steps, which are not timed: the engine optimizes the module during them. */
const warmUp = 5;
const maxSteps = 100;
const maxMs = 3000;

/** Trains a copy on the current data, on one thread. Error: the settings do not fit the network. */
export async function measureLayers(
  network: Network,
  data: DataSet,
  { batchSize }: Settings,
  onProgress: (share: number) => void,
): Promise<Measured> {
  const model = build(network, data, 1);
  try {
    compile(model, true);
    const batch = Math.min(batchSize, data.train.count);
    const batches = Math.floor(data.train.count / batch);
    const end = performance.now() + maxMs;
    let steps = 0;
    for (let step = -warmUp; step < maxSteps && performance.now() < end; ++step) {
      if (step === 0) tl.layerTimes(model, { reset: true });
      const from = ((step + warmUp) % batches) * batch;
      const x = featuresFor(model, data, data.train, from, from + batch);
      await model.trainOnBatch(x, labelsFor(data.train, from, from + batch));
      steps = step + 1;
      onProgress(Math.max(0, steps) / maxSteps);
      await nextTask();
    }
    if (steps < 1)
      throw new Error('One step is longer than the time for measuring; try a smaller batch.');
    const { calls, layers } = tl.layerTimes(model).train!;
    const perStep = layers.map(({ name, forward, backward, update }) => ({
      name,
      forward: forward / calls,
      backward: backward / calls,
      update: update / calls,
    }));
    const { formsOf } = await import('./module_forms');
    return { layers: perStep, steps: calls, batch, forms: await formsOf(model) };
  } finally {
    model.dispose();
  }
}
