// Opens the files of some seeds one after the other and reports their outcomes, a line of JSON each: the parent kills what hangs.
import * as tl from 'tensorlathe';
import * as ort from 'tensorlathe/onnxruntime';
import { model, node, tensor, value } from '../../js/onnx/write.mjs';
import { Draw } from './draw.mjs';
import { FORMATS } from './formats.mjs';

const [begin, end, chosen] = process.argv.slice(2);
const formats = chosen === undefined ? Object.keys(FORMATS) : chosen.split(',');
/** Messages of the engine, which no user can act on. */
const ENGINE =
  /Maximum call stack|Cannot (read|set|convert|mix|destructure)|is not (a function|iterable|a constructor)|Invalid (array|typed array|string) length|unreachable|memory access|length_error|bad_alloc|Array buffer allocation|null function|was thrown/;
const report = (each) => process.stdout.write(`${JSON.stringify(each)}\n`);

const session = await ort.InferenceSession.create(
  model({
    nodes: [node('MatMul', ['x', 'w'], ['y'])],
    inputs: [value('x', 'float32', ['n', 4])],
    outputs: [value('y', 'float32')],
    initializers: { w: tensor('float32', [1, 2, 3, 4, 5, 6, 7, 8], [4, 2]) },
  }),
);
const layers = tl.sequential({
  layers: [tl.layers.dense({ units: 2, inputShape: [3], kernelInitializer: 'ones' })],
});
const double = tl.compile({ x: ['n', 3] }, ({ x }) => ({ y: x.mul(2) }));

/** Three models of others, at a new size each time. */
async function othersAnswer(rows) {
  const { y } = await session.run({
    x: new ort.Tensor('float32', new Float32Array(4 * rows).fill(1), [rows, 4]),
  });
  const sums = tl.tidy(() => layers.predict(tl.ones([rows, 3])).dataSync());
  const doubled = tl.tidy(() => double.run({ x: tl.ones([rows, 3]) }).y.dataSync());
  return y.data[2 * rows - 1] === 20 && sums[2 * rows - 1] === 3 && doubled[3 * rows - 1] === 2;
}

for (let seed = Number(begin); seed < Number(end); seed += 1) {
  const draw = new Draw(seed);
  const format = formats[seed % formats.length];
  report({ begun: seed, format });
  const started = performance.now();
  let fault;
  try {
    const result = await FORMATS[format](draw)();
    if (result !== undefined) fault = `returns ${result}`;
  } catch (error) {
    const message = String(error?.message ?? error);
    const ours = message.replace(/(WebAssembly\.\w+\(\)|the module stopped in \w+): .*/s, ''); // these help
    if (error instanceof WebAssembly.RuntimeError || ENGINE.test(ours))
      fault = `${error.name}: ${message.slice(0, 200)} ${String(error.stack).split('\n')[1]?.trim()}`;
  }
  const seconds = (performance.now() - started) / 1000;
  const gigabytes = process.memoryUsage().rss / 2 ** 30;
  if (seconds > 5) fault ??= `runs ${seconds.toFixed(1)} s`;
  if ({}.polluted !== undefined) fault = 'changes Object.prototype';
  if (seed % 50 === 49) {
    const answer = await othersAnswer(1 + (seed % 7)).catch((error) => error.message);
    if (answer !== true) fault ??= `other models stop answering: ${answer}`;
  }
  report({ done: seed, format, fault, gigabytes });
}
report({ end: true });
process.exit(0);
