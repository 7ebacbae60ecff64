// The form: what the user chose, checked by the browser, and a model made of it.
import * as tl from 'tensorlathe';
import { element, input, select } from './dom';

/** How long and in what steps to train. */
export interface Steps {
  epochs: number;
  batchSize: number;
}

function fill(id: string, names: readonly string[], chosen: string): void {
  const options = names.map((name) => new Option(name, name, name === chosen, name === chosen));
  select(id).replaceChildren(...options);
}

/** Offers every activation of hidden layers and every optimiser that the core has. */
export function fillSettings(): void {
  const tables = tl.describe() as Record<'activations' | 'optimizers', { name: string }[]>;
  const names = (table: { name: string }[]) => table.map(({ name }) => name);
  fill('activation', names(tables.activations), 'relu');
  fill('optimizer', names(tables.optimizers), 'adam');
}

/** Locks the choices that are part of the compiled model. */
export function lockSettings(isLocked: boolean): void {
  for (const id of ['hidden', 'activation', 'optimizer']) select(id).disabled = isLocked;
}

export function readSteps(): Steps {
  const form = element('settings', HTMLFormElement);
  if (!form.reportValidity()) throw new Error('One of the settings is not a number it can be.');
  return { epochs: input('epochs').valueAsNumber, batchSize: input('batch-size').valueAsNumber };
}

export const readLearningRate = () => input('learning-rate').valueAsNumber;

/** A fresh model as chosen, compiled. */
export function makeModel(seed: number): tl.Sequential {
  const activation = select('activation').value as tl.ActivationName;
  const sizes = select('hidden').value.split(',').filter(Boolean).map(Number);
  const model = tl.sequential({ name: 'digits', seed });
  try {
    sizes.forEach((units, at) => {
      model.add(tl.layers.dense({ units, activation, inputShape: at === 0 ? [784] : undefined }));
    });
    const inputShape = sizes.length === 0 ? [784] : undefined;
    model.add(tl.layers.dense({ units: 10, activation: 'softmax', inputShape }));
    model.compile({
      loss: 'softmaxCrossEntropy',
      optimizer: {
        name: select('optimizer').value as tl.OptimizerName,
        learningRate: readLearningRate(),
      },
      metrics: ['accuracy'],
    });
    return model;
  } catch (error) {
    model.dispose();
    throw error;
  }
}
