// Trains two copies of a network step by step in turns, one here and one in TensorFlow.js, from the same weights on the same batches.
import * as tl from 'tensorlathe';
import { type DataSet, featuresFor, labelsFor } from './data/data_set';
import { nextTask } from './dom';
import { build, type Network } from './network';
import type { Settings } from './store';
import { compile } from './training';

/** What both did at one step. */
export interface Step {
  ourLoss: number;
  theirLoss: number;
  ourMs: number;
  theirMs: number;
}

export interface Comparison {
  backend: string;
  version: string;
  steps: Step[];
}

export interface Wanted {
  backend: string;
  steps: number;
  signal: AbortSignal;
  onStep: (step: number) => void;
}

/** Steps that are not counted: engines and TensorFlow.js compile during them. */
const warmUp = 3;
const mostMs = 60000;

type TensorFlow = typeof import('@tensorflow/tfjs');

/** Its WebAssembly backend is a package of its own, whose threads do not start from a bundle. */
async function addWasm(tf: TensorFlow): Promise<void> {
  const [{ setWasmPaths }, plain, simd] = await Promise.all([
    import('@tensorflow/tfjs-backend-wasm'),
    import('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm?url'),
    import('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm?url'),
  ]);
  setWasmPaths({
    'tfjs-backend-wasm.wasm': plain.default,
    'tfjs-backend-wasm-simd.wasm': simd.default,
    'tfjs-backend-wasm-threaded-simd.wasm': '',
  });
  tf.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
}

async function loadTensorFlow(backend: string): Promise<TensorFlow> {
  const tf = await import('@tensorflow/tfjs');
  if (backend === 'wasm') await addWasm(tf);
  if (backend !== 'auto' && !(await tf.setBackend(backend).catch(() => false))) {
    throw new Error(`TensorFlow.js has no ${backend} backend in this browser; choose another.`);
  }
  await tf.ready();
  return tf;
}

const lossOf = (result: number | readonly number[]) =>
  Array.isArray(result) ? (result[0] as number) : (result as number);

/** Class numbers, or one row of zeros and a one for each: what the loss of TensorFlow.js takes. */
function theirLabels(
  tf: TensorFlow,
  data: DataSet,
  from: number,
  to: number,
  loss: string,
  width: number,
) {
  const { labels } = data.train;
  const part = labels.subarray(from, to);
  if (data.classes === undefined || width === 1) {
    return tf.tensor2d(Float32Array.from(part), [to - from, 1]);
  }
  if (loss === 'sparseCategoricalCrossentropy') return tf.tensor1d(Float32Array.from(part));
  return tf.tidy(() => tf.oneHot(tf.tensor1d(part, 'int32'), width).toFloat());
}

/** Rejects with why TensorFlow.js cannot take the network, its loss or its optimiser. */
export async function compare(
  network: Network,
  data: DataSet,
  settings: Settings,
  weights: tl.Tensor[] | undefined,
  { backend, steps, signal, onStep }: Wanted,
): Promise<Comparison> {
  const tf = await loadTensorFlow(backend);
  const ours = build(network, data, 1);
  try {
    if (weights !== undefined) ours.setWeights(weights);
    compile(ours);
    const artifacts = tl.io.toArtifacts(ours, { includeOptimizer: true });
    const handler = tf.io.fromMemory(artifacts as Parameters<typeof tf.io.fromMemory>[0]);
    const theirs = await tf.loadLayersModel(handler);
    try {
      const batch = Math.min(settings.batchSize, data.train.count);
      const batches = Math.floor(data.train.count / batch);
      const width = (ours.outputShape as number[]).at(-1)!;
      const result: Step[] = [];
      const start = performance.now();
      for (let step = -warmUp; step < steps && !signal.aborted; ++step) {
        if (step > 0 && performance.now() - start > mostMs) break;
        const from = ((step + warmUp) % batches) * batch;
        const to = from + batch;
        const x = featuresFor(ours, data, data.train, from, to);
        const y = labelsFor(data.train, from, to);
        let began = performance.now();
        const ourLoss = lossOf(await ours.trainOnBatch(x, y));
        const ourMs = performance.now() - began;
        const theirX = tf.tensor(x.dataSync() as Float32Array, x.shape as number[]);
        const theirY = theirLabels(tf, data, from, to, settings.loss, width);
        began = performance.now();
        const theirLoss = lossOf(await theirs.trainOnBatch(theirX, theirY));
        const theirMs = performance.now() - began;
        tf.dispose([theirX, theirY]);
        if (step >= 0) result.push({ ourLoss, theirLoss, ourMs, theirMs });
        onStep(Math.max(0, step + 1));
        await nextTask();
      }
      const name = tf.getBackend();
      const label = name === 'wasm' ? 'wasm on one thread' : name;
      return { backend: label, version: tf.version.tfjs, steps: result };
    } finally {
      theirs.dispose();
    }
  } finally {
    ours.dispose();
  }
}
