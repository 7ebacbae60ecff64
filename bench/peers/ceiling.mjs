/** The ceiling of this engine: 12 independent multiply-adds on four lanes, in registers, nothing else. Not a peer. */
import { Unsupported } from '../models/model.mjs';

const iterations = 20000;
const accumulators = 12;
const v128 = 0x7b;

const section = (id, bytes) => [id, ...unsigned(bytes.length), ...bytes];
const splat = (value) => [0x43, ...new Uint8Array(new Float32Array([value]).buffer), 0xfd, 0x13];

function unsigned(value) {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

/** A module that exports run(n): n rounds over all accumulators, assembled byte by byte so that nothing else is measured. */
function makeModule(fused) {
  const factor = accumulators + 1;
  const addend = accumulators + 2;
  const body = [
    ...[1, accumulators + 2, v128],
    ...[...splat(0.999), 0x21, factor, ...splat(0.001), 0x21, addend],
    ...[0x03, 0x40],
    ...Array.from({ length: accumulators }, (_, i) => [
      ...(fused ? [0x20, factor, 0x20, addend, 0x20, i + 1] : [0x20, i + 1, 0x20, factor]),
      ...(fused ? [0xfd, ...unsigned(0x105)] : [0xfd, ...unsigned(0xe6), 0x20, addend]),
      ...(fused ? [] : [0xfd, ...unsigned(0xe4)]),
      ...[0x21, i + 1],
    ]).flat(),
    ...[0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b],
    ...Array.from({ length: accumulators }, (_, i) => [
      0x20,
      i + 1,
      ...(i > 0 ? [0xfd, ...unsigned(0xe4)] : []),
    ]).flat(),
    ...[0xfd, 0x1f, 0, 0x0b],
  ];
  return new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7d]),
    ...section(3, [1, 0]),
    ...section(7, [1, 3, 0x72, 0x75, 0x6e, 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ]);
}

/** Only steps of the loop; a step's work is flopsPerStep, or with several threads stats().steps times that. */
export async function ceiling({ fused, threads = 1 }) {
  const bytes = makeModule(fused);
  if (!WebAssembly.validate(bytes)) throw new Unsupported('has no relaxed SIMD');
  const { module, instance } = await WebAssembly.instantiate(bytes);
  const run = (count) => instance.exports.run(count * iterations);
  if (threads === 1) return { synchronous: true, step: () => run(1), dispose() {} };
  const others = await Promise.all(
    Array.from({ length: threads - 1 }, () => startWorker(module, stepsTogether * iterations)),
  );
  return {
    async step() {
      const ends = others.map((other) => other.step());
      run(stepsTogether);
      await Promise.all(ends);
    },
    stats: () => ({ steps: threads * stepsTogether }),
    dispose: () => Promise.all(others.map((other) => other.stop())),
  };
}

/** So many that the time of messages is negligible. */
const stepsTogether = 1000;

const workerSource = `
  const port = globalThis.postMessage ? globalThis : require('node:worker_threads').parentPort;
  port.onmessage = ({ data: { module, count, answers } }) => {
    const { run } = new WebAssembly.Instance(module).exports;
    answers.onmessage = () => { run(count); answers.postMessage(0); };
    answers.postMessage(0);
  };`;

/** A further thread that runs the loop on request; step() resolves when it has. */
async function startWorker(module, count) {
  const worker = await (globalThis.document === undefined
    ? import('node:worker_threads').then(({ Worker }) => new Worker(workerSource, { eval: true }))
    : new Worker(URL.createObjectURL(new Blob([workerSource]))));
  const { port1, port2 } = new MessageChannel();
  const answer = () => new Promise((done) => (port1.onmessage = done));
  const started = answer();
  worker.postMessage({ module, count, answers: port2 }, [port2]);
  await started;
  return {
    step() {
      const ended = answer();
      port1.postMessage(0);
      return ended;
    },
    stop() {
      port1.close();
      return worker.terminate();
    },
  };
}

export const flopsPerStep = iterations * accumulators * 4 * 2;
