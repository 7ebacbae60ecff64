// The page: data, one model, and the buttons that train it, try it and show what it was compiled to.
import * as tl from 'tensorlathe';
import { addTest, addTraining, clearCurves, drawCurves } from './curves';
import { type DataSet, drawDataSet, readDataSet, tensors } from './data';
import { button, element, input, kibibytes, milliseconds, percent, show, whole } from './dom';
import { clearError, showError } from './errors';
import { shown, showDigits, showPredictions } from './grid';
import { drawing, listenToPad, showGuess } from './pad';
import { fillSettings, lockSettings, makeModel, readLearningRate, readSteps } from './settings';

let data: DataSet | undefined;
let train: [tl.Tensor, tl.Tensor];
let test: [tl.Tensor, tl.Tensor];
let gridDigits: tl.Tensor;
let model: tl.Sequential | undefined;
let isTraining = false;
let seed = 1;

const progress = element('progress', HTMLProgressElement);
const start = button('start');

function useData(next: DataSet): void {
  data = next;
  train = tensors(next.train);
  test = tensors(next.test);
  const count = Math.min(shown, next.test.count);
  gridDigits = tl.tensor((test[0].dataSync() as Float32Array).subarray(0, count * 784), [
    count,
    784,
  ]);
  showDigits(next.test);
  show(
    'data-text',
    `${whole(next.train.count)} training and ${whole(next.test.count)} test digits, ${next.source}.`,
  );
}

function setState(text: string): void {
  show('status', text);
  start.textContent = isTraining ? 'Stop' : model === undefined ? 'Start training' : 'Resume';
  start.disabled = data === undefined;
  button('reset').disabled = isTraining || model === undefined;
  input('files').disabled = isTraining;
  for (const id of ['download', 'view']) button(id).disabled = model === undefined;
  lockSettings(model !== undefined);
}

function reset(): void {
  model?.dispose();
  model = undefined;
  seed += 1;
  clearCurves();
  if (data !== undefined) showDigits(data.test);
  for (const id of ['loss', 'accuracy', 'speed', 'batch-time']) show(id, '–');
  for (const id of ['module-size', 'compile-time', 'memory']) show(id, '–');
  progress.value = 0;
  classifyDrawing(drawing());
  setState('Ready');
}

function showModule(trained: tl.Sequential): void {
  const { moduleBytes, memoryBytes, compileMs } = trained.stats();
  show('module-size', kibibytes(moduleBytes));
  show('memory', kibibytes(memoryBytes));
  show('compile-time', milliseconds(compileMs));
}

function showPredicted(trained: tl.Sequential): void {
  const probabilities = trained.predict(gridDigits).arraySync() as number[][];
  showPredictions(probabilities.map((row) => row.indexOf(Math.max(...row))));
  classifyDrawing(drawing());
}

function classifyDrawing(pixels: Float32Array | undefined): void {
  if (pixels === undefined) showGuess(undefined, 'Nothing drawn yet');
  else if (model === undefined) showGuess(undefined, 'Train the network first');
  else showGuess(model.predict(tl.tensor(pixels, [1, 784])).dataSync());
}

/** Collects batches between two drawings of the page. */
class Meter {
  #begin = 0;
  #spent = 0;
  #batches = 0;
  #loss = 0;
  #correct = 0;
  #rows = 0;
  #shownAt = performance.now();

  beginBatch(): void {
    this.#begin = performance.now();
  }

  endBatch({ loss, acc = 0, size = 0 }: tl.Logs): void {
    this.#spent += performance.now() - this.#begin;
    this.#batches += 1;
    this.#rows += size;
    this.#loss += loss * size;
    this.#correct += acc * size;
  }

  /** Shows what was collected if the last time is 150 ms ago. */
  showAt(epoch: number, imagesPerSecond: number): void {
    if (performance.now() - this.#shownAt < 150) return;
    const loss = this.#loss / this.#rows;
    addTraining(epoch, loss, this.#correct / this.#rows);
    drawCurves();
    show('loss', loss.toFixed(4));
    show('speed', whole(imagesPerSecond));
    show('batch-time', milliseconds(this.#spent / this.#batches));
    progress.value = epoch % 1;
    this.#spent = this.#batches = this.#loss = this.#correct = this.#rows = 0;
    this.#shownAt = performance.now();
  }
}

function callbacks(trained: tl.Sequential, epochs: number): tl.Callbacks {
  const meter = new Meter();
  const rows = train[0].shape[0]!;
  const before = trained.epochsTrained;
  let done = 0;
  return {
    onEpochBegin(epoch) {
      done = 0;
      setState(`Epoch ${epoch + 1} of ${epochs}`);
    },
    onBatchBegin: () => meter.beginBatch(),
    onBatchEnd(_, logs) {
      meter.endBatch(logs);
      done += logs.size ?? 0;
      meter.showAt(trained.epochsTrained + Math.min(done / rows, 0.999), logs.imagesPerSecond);
    },
    onEpochEnd(epoch, { val_loss, val_acc }) {
      if (val_loss !== undefined && val_acc !== undefined) {
        addTest(before + epoch + 1, val_loss, val_acc);
        show('accuracy', percent(val_acc));
      }
      drawCurves();
      progress.value = 1;
      showPredicted(trained);
    },
  };
}

async function run(): Promise<void> {
  clearError();
  const { epochs, batchSize } = readSteps();
  model ??= makeModel(seed);
  model.setLearningRate(readLearningRate());
  isTraining = true;
  setState('Compiling…');
  try {
    const history = await model.fit(...train, {
      epochs,
      batchSize,
      validationData: test,
      callbacks: [{ onTrainBegin: () => showModule(model!) }, callbacks(model, epochs)],
    });
    showPredicted(model);
    isTraining = false;
    setState(model.stopTraining ? 'Stopped' : `Trained ${history.epoch.length} epochs`);
  } finally {
    isTraining = false;
  }
}

start.addEventListener('click', () => {
  if (isTraining) {
    model!.stopTraining = true;
    return;
  }
  run().catch((error: unknown) => {
    showError(error);
    setState('Not trained');
  });
});

button('reset').addEventListener('click', reset);

button('download').addEventListener('click', () => {
  const url = URL.createObjectURL(new Blob([model!.toWasm()], { type: 'application/wasm' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'digits.wasm';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
});

const dialog = element('text-dialog', HTMLDialogElement);
button('view').addEventListener('click', () => {
  model!
    .toWat()
    .then((text) => {
      show('text', text);
      dialog.showModal();
    })
    .catch(showError);
});
button('text-close').addEventListener('click', () => dialog.close());

input('files').addEventListener('change', async ({ target }) => {
  const files = [...((target as HTMLInputElement).files ?? [])];
  if (files.length === 0) return;
  try {
    const next = await readDataSet(files);
    clearError();
    useData(next);
    reset();
  } catch (error) {
    showError(error);
  }
  (target as HTMLInputElement).value = '';
});

listenToPad(classifyDrawing);

async function open(): Promise<void> {
  await tl.ready();
  fillSettings();
  const { SIMD, RELAXED_SIMD } = tl.env().features;
  show('simd', RELAXED_SIMD ? 'relaxed' : SIMD ? '128 bit' : 'none');
  const drawn = await drawDataSet(1, (share) => {
    progress.value = share;
    show('status', `Drawing digits, ${Math.round(100 * share)} %`);
  });
  progress.value = 0;
  useData(drawn);
  setState('Ready');
}

open().catch(showError);
