// Training: builds the model, compiles it with the settings, runs epochs, pauses and stops.
import * as tl from 'tensorlathe';
import { type DataSet, examplesFor, isPlane } from './data/data_set';
import { messageOf, nextFrame } from './dom';
import { build, isSound } from './network';
import { isCurrent, isTraining, state, type Trained, update, watch } from './store';

/** A point of the curves; epochs are counted from the creation of the model. */
export interface Point {
  epoch: number;
  loss: number;
  accuracy?: number;
}

/** Callbacks during training. */
export interface Listener {
  /** Training starts; `epochs`: total since the creation of the model. */
  onBegin?(lastEpoch: number): void;
  onPoint?(kind: 'training' | 'validation', point: Point): void;
  /** Every 150 ms or less often. */
  onProgress?(progress: { share: number; loss: number; speed: number; batchMs: number }): void;
  /** The model was replaced: displayed results are obsolete. */
  onReset?(): void;
}

/** Whether the engine has SIMD instructions. */
export const hasSimd = tl.env().features.SIMD;

const listeners: Listener[] = [];
export const listen = (listener: Listener) => void listeners.push(listener);

let seed = 1;
let goOn: (() => void) | undefined;
/** Status text during training. */
let running = '';

/** An error, with the part of the page where it can be corrected. */
export class SettingError extends Error {
  constructor(
    readonly part: 'loss' | 'optimizer' | 'training',
    message: string,
  ) {
    super(message);
  }
}

function compileArgs(): tl.CompileArgs {
  const { loss, optimizer, learningRate } = state.settings;
  return {
    loss: loss as tl.LossName,
    optimizer: { name: optimizer as tl.OptimizerName, learningRate },
    metrics: state.data?.classes === undefined ? [] : ['accuracy', 'confusionMatrix'],
  };
}

/** Compiles with the settings, and with timing if `timing` is true. Error: a SettingError. */
export function compile(model: tl.LayersModel, timing = false): void {
  try {
    model.compile({ ...compileArgs(), timing });
  } catch (error) {
    const message = messageOf(error);
    throw new SettingError(message.startsWith('optimizer') ? 'optimizer' : 'loss', message);
  }
}

/** Replaces the current model. */
export function adopt(trained: Trained | undefined): void {
  state.trained?.model.dispose();
  update({ trained, confusion: undefined, weightsRevision: state.weightsRevision + 1 });
  for (const each of listeners) each.onReset?.();
}

/** The model of the current network, compiled with the settings; an existing model is reused. */
function currentModel(): Trained {
  const { data, network, checked, trained, settings } = state;
  const { loss, optimizer, learningRate } = settings;
  if (data === undefined || !isSound(checked)) {
    throw new SettingError('training', 'The network has an error; it is displayed at its layer.');
  }
  if (isCurrent() && trained !== undefined) {
    if (trained.loss === loss && trained.optimizer === optimizer) {
      trained.model.setLearningRate(learningRate);
      return trained;
    }
    compile(trained.model);
    const changed = { ...trained, loss, optimizer };
    update({ trained: changed });
    return changed;
  }
  const model = build(network, data, seed);
  try {
    compile(model);
  } catch (error) {
    model.dispose();
    throw error;
  }
  const made = { model, network, loss, optimizer };
  adopt(made);
  return made;
}

/** A standalone module that trains, tests and predicts, with the current weights and optimizer states. */
export function trainingModule({ model }: Trained): Uint8Array<ArrayBuffer> {
  const { batchSize, testSize, predictSize, batchesInMemory } = state.settings;
  return model.toWasm({
    training: true,
    batchSize: { train: batchSize, evaluate: testSize, predict: predictSize },
    batchesInMemory,
    labels: state.data?.classes === undefined ? 'dense' : 'sparse',
  });
}

/** Discards the model; the next one starts with new weights. */
export function discardModel(): void {
  seed += 1;
  adopt(undefined);
  update({ status: 'Ready' });
}

watch(['settings'], () => tl.env().set('SIMD', hasSimd && state.settings.simd));

/** Accumulates batches between two updates of the page. */
class Meter {
  #begin = 0;
  #spent = 0;
  #batches = 0;
  #timedRows = 0;
  /** Time of a batch, and examples per second from the same batches. */
  #rate = { batchMs: 0, speed: 0 };
  #loss = 0;
  #correct = 0;
  #rows = 0;
  #lastUpdate = performance.now();

  beginBatch(): void {
    this.#begin = performance.now();
  }

  /** `isLast`: the validation ran within this batch, whose time counts only if there is no other. */
  endBatch({ loss, acc = 0, size = 0 }: tl.Logs, isLast: boolean): void {
    if (!isLast || this.#rate.batchMs === 0) {
      this.#spent += performance.now() - this.#begin;
      this.#batches += 1;
      this.#timedRows += size;
    }
    this.#rows += size;
    this.#loss += loss * size;
    this.#correct += acc * size;
  }

  /** Resets the collected values. */
  begin(): void {
    this.#spent = this.#batches = this.#timedRows = this.#loss = this.#correct = this.#rows = 0;
    this.#lastUpdate = performance.now();
  }

  /** Reports the collected values; within an epoch every 150 ms or less often. */
  report(epoch: number, hasAccuracy: boolean, isEnd: boolean): void {
    if (!isEnd && performance.now() - this.#lastUpdate < 150) return;
    const loss = this.#loss / this.#rows;
    const point = { epoch, loss, ...(hasAccuracy ? { accuracy: this.#correct / this.#rows } : {}) };
    if (this.#batches > 0) {
      const batchMs = this.#spent / this.#batches;
      this.#rate = { batchMs, speed: (1000 * this.#timedRows) / Math.max(this.#spent, 1e-6) };
    }
    for (const each of listeners) {
      each.onPoint?.('training', point);
      each.onProgress?.({ share: isEnd ? 1 : epoch % 1, loss, ...this.#rate });
    }
    this.begin();
  }
}

/** Waits while the training is paused. */
async function untilResumed(): Promise<void> {
  if (state.phase === 'paused') await new Promise<void>((done) => (goOn = done));
}

function callbacks({ model }: Trained, data: DataSet, epochs: number): tl.Callbacks {
  const meter = new Meter();
  const rows = data.train.count;
  const before = model.epochsTrained;
  let done = 0;
  let lastUpdate = 0;
  return {
    async onEpochBegin(epoch) {
      await untilResumed();
      done = 0;
      meter.begin();
      running = `Epoch ${epoch + 1} of ${epochs}`;
      update({ status: running });
    },
    onBatchBegin: () => meter.beginBatch(),
    async onBatchEnd(_, logs) {
      if (!Number.isFinite(logs.loss)) {
        throw new SettingError(
          'training',
          'The loss is no number any more: the steps were too large. Press Reset and try a smaller learning rate.',
        );
      }
      done += logs.size ?? 0;
      meter.endBatch(logs, done >= rows);
      const epoch = model.epochsTrained + done / rows;
      meter.report(epoch, logs.acc !== undefined, done >= rows);
      await untilResumed();
    },
    async onEpochEnd(epoch, { val_loss: loss, val_acc: accuracy, val_confusionMatrix }) {
      if (loss !== undefined) {
        const point = {
          epoch: before + epoch + 1,
          loss,
          ...(accuracy === undefined ? {} : { accuracy }),
        };
        for (const each of listeners) each.onPoint?.('validation', point);
      }
      if (isPlane(data)) await nextFrame();
      const now = performance.now();
      if (now - lastUpdate < 150 && epoch + 1 < epochs && !model.stopTraining) return;
      lastUpdate = now;
      const confusion = (val_confusionMatrix as number[][] | undefined) ?? state.confusion;
      update({ weightsRevision: state.weightsRevision + 1, confusion });
    },
  };
}

/** Trains for the number of epochs in the settings. Rejects on errors, which leave the model intact. */
export async function train(): Promise<void> {
  const { epochs, batchSize, batchesInMemory } = state.settings;
  const data = state.data!;
  update({ phase: 'training', status: 'Compiling …' });
  try {
    const trained = currentModel();
    const { model } = trained;
    const [x, y] = examplesFor(model, data, data.train);
    for (const each of listeners) each.onBegin?.(model.epochsTrained + epochs);
    const history = await model.fit(x, y, {
      epochs,
      batchSize,
      batchesInMemory: Math.min(batchesInMemory, stepsPerEpoch()),
      validationData: examplesFor(model, data, data.test),
      callbacks: callbacks(trained, data, epochs),
    });
    const count = history.epoch.length;
    const text = `Trained ${count} ${count === 1 ? 'epoch' : 'epochs'}`;
    const weightsRevision = state.weightsRevision + 1;
    update({ phase: 'idle', status: model.stopTraining ? 'Stopped' : text, weightsRevision });
  } catch (error) {
    update({ phase: 'idle', status: 'Not trained' });
    throw error;
  }
}

/** Batches of an epoch. */
export const stepsPerEpoch = () =>
  Math.ceil((state.data?.train.count ?? 0) / state.settings.batchSize);

/** Pauses the training after the current batch, or resumes it. */
export function pause(isPaused: boolean): void {
  if (!isTraining()) return;
  update({ phase: isPaused ? 'paused' : 'training', status: isPaused ? 'Paused' : running });
  if (!isPaused) goOn?.();
}

/** Stops the training after the current batch; the weights are retained. */
export function stop(): void {
  if (!isTraining() || state.trained === undefined) return;
  state.trained.model.stopTraining = true;
  goOn?.();
}
