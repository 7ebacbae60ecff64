// Trains two copies of a network in alternating steps, here and in TensorFlow.js, with the same initial weights and batches.
import * as tl from 'tensorlathe';
import { type DataSet, featuresFor, labelsFor } from './data/data_set';
import { nextTask } from './dom';
import { build, type Network } from './network';
import type { Settings } from './store';
import { compile } from './training';

/** Losses and times of both at one step. */
export interface Step {
  ourLoss: number;
  theirLoss: number;
  ourMs: number;
  theirMs: number;
}

export interface Comparison {
  /** Threads that Tensorlathe used. */
  threads: number;
  backend: string;
  /** Milliseconds of a step on each of its backends, if the fastest one was asked for. */
  tried?: Record<string, number>;
  /** Threads of TensorFlow.js, if it runs on the CPU. */
  theirThreads?: number;
  /** The software renderer of WebGL, if there is no GPU. */
  softwareGl?: string;
  version: string;
  steps: Step[];
}

export interface ComparisonOptions {
  /** Or `fastest`. */
  backend: string;
  steps: number;
  signal: AbortSignal;
  onStep: (step: number) => void;
}

/** Warm-up steps, which are not timed: engines and TensorFlow.js compile during them. */
const warmUp = 3;
const maxMs = 60000;
const backends = ['webgl', 'wasm', 'cpu'];
/** Steps to find its fastest backend, unless a step takes longer. */
const trialSteps = 4;
const maxTrialMs = 3000;

type TensorFlow = typeof import('@tensorflow/tfjs');
type Theirs = Awaited<ReturnType<TensorFlow['loadLayersModel']>>;

/** Its WebAssembly backend is a separate package, whose threads do not start from a bundle. */
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

const hasBackend = (tf: TensorFlow, backend: string) => tf.setBackend(backend).catch(() => false);

async function loadTensorFlow(backend: string): Promise<TensorFlow> {
  const tf = await import('@tensorflow/tfjs');
  if (backend === 'wasm' || backend === 'fastest') await addWasm(tf);
  if (backend !== 'fastest' && !(await hasBackend(tf, backend))) {
    throw new Error(`TensorFlow.js has no ${backend} backend in this browser; choose another.`);
  }
  await tf.ready();
  return tf;
}

/** Chooses its backend with the shortest step for this model; resolves with the times of all. */
async function chooseFastest(
  tf: TensorFlow,
  load: () => Promise<Theirs>,
  step: (model: Theirs) => Promise<unknown>,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const times: Record<string, number> = {};
  for (const backend of backends) {
    if (signal.aborted || !(await hasBackend(tf, backend))) continue;
    const model = await load();
    const begin = performance.now();
    for (let at = 0; at < trialSteps && performance.now() - begin < maxTrialMs; ++at) {
      const start = performance.now();
      await step(model);
      times[backend] = Math.min(times[backend] ?? Infinity, performance.now() - start);
      await nextTask();
    }
    model.dispose();
  }
  const [fastest] = Object.entries(times).sort(([, a], [, b]) => a - b)[0] ?? [];
  if (fastest === undefined) throw new Error('TensorFlow.js has no backend in this browser.');
  await tf.setBackend(fastest);
  return times;
}

/** The name of a WebGL that a processor computes, or nothing. */
function softwareGl(tf: TensorFlow): string | undefined {
  const backend = tf.backend() as { getGPGPUContext?(): { gl: WebGLRenderingContext } };
  const gl = backend.getGPGPUContext?.().gl;
  if (gl === undefined) return undefined;
  const named = gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(named?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name) ? name : undefined;
}

const lossOf = (result: number | readonly number[]) =>
  Array.isArray(result) ? (result[0] as number) : (result as number);

/** Class indices or one-hot rows, as required by the loss of TensorFlow.js. */
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

/** The same examples for both. */
function batchOf(
  tf: TensorFlow,
  ours: tl.LayersModel,
  data: DataSet,
  loss: string,
  [from, to]: readonly [number, number],
) {
  const x = featuresFor(ours, data, data.train, from, to);
  const y = labelsFor(data.train, from, to);
  const width = (ours.outputShape as number[]).at(-1)!;
  const theirX = tf.tensor(x.dataSync() as Float32Array, x.shape as number[]);
  return { x, y, theirX, theirY: theirLabels(tf, data, from, to, loss, width) };
}

type Batch = ReturnType<typeof batchOf>;

const stepOfTheirs = async (theirs: Theirs, { theirX, theirY }: Batch) =>
  lossOf(await theirs.trainOnBatch(theirX, theirY));

/** One step of both. */
async function stepBoth(ours: tl.LayersModel, theirs: Theirs, batch: Batch): Promise<Step> {
  const start = performance.now();
  const ourLoss = lossOf(await ours.trainOnBatch(batch.x, batch.y));
  const between = performance.now();
  const theirLoss = await stepOfTheirs(theirs, batch);
  return { ourLoss, theirLoss, ourMs: between - start, theirMs: performance.now() - between };
}

/** Rejects if TensorFlow.js does not support the network, its loss or its optimizer. */
export async function compare(
  network: Network,
  data: DataSet,
  settings: Settings,
  weights: tl.Tensor[] | undefined,
  { backend, steps, signal, onStep }: ComparisonOptions,
): Promise<Comparison> {
  const tf = await loadTensorFlow(backend);
  const ours = build(network, data, 1);
  let theirs: Theirs | undefined;
  try {
    if (weights !== undefined) ours.setWeights(weights);
    compile(ours);
    const artifacts = await tl.io.toArtifacts(ours, { includeOptimizer: true });
    const handler = tf.io.fromMemory(artifacts as Parameters<typeof tf.io.fromMemory>[0]);
    const load = () => tf.loadLayersModel(handler);
    const batch = Math.min(settings.batchSize, data.train.count);
    const batches = Math.floor(data.train.count / batch);
    /** Runs an action on the batch of a step. */
    const onBatch = async <T>(step: number, action: (batch: Batch) => Promise<T>): Promise<T> => {
      const from = (step % batches) * batch;
      const both = batchOf(tf, ours, data, settings.loss, [from, from + batch]);
      try {
        return await action(both);
      } finally {
        tf.dispose([both.theirX, both.theirY]);
      }
    };
    const tryStep = (model: Theirs) => onBatch(0, (each) => stepOfTheirs(model, each));
    const tried =
      backend === 'fastest' ? await chooseFastest(tf, load, tryStep, signal) : undefined;
    const model = await load();
    theirs = model;
    const done: Step[] = [];
    const start = performance.now();
    for (let step = -warmUp; step < steps && !signal.aborted; ++step) {
      if (step > 0 && performance.now() - start > maxMs) break;
      const both = await onBatch(step + warmUp, (each) => stepBoth(ours, model, each));
      if (step >= 0) done.push(both);
      onStep(Math.max(0, step + 1));
      await nextTask();
    }
    const used = tf.getBackend();
    const software = softwareGl(tf);
    return {
      threads: Math.min(ours.stats().threads, tl.env().threads.count),
      backend: used,
      ...(tried === undefined ? {} : { tried }),
      ...(/^(wasm|cpu)$/.test(used) ? { theirThreads: 1 } : {}),
      ...(software === undefined ? {} : { softwareGl: software }),
      version: tf.version.tfjs,
      steps: done,
    };
  } finally {
    theirs?.dispose();
    ours.dispose();
  }
}
