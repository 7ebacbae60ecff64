// Random functions and models as shaders, run by the device of the package on the WebGPU of this process. The last line is
// N passed, M failed, K skipped. Usage: node run_webgpu.mjs FOLDER --seeds=FIRST..END
import { WebGpuDevice } from '../../js/dist/runtime/webgpu/device.js';
import { hostDTypes } from '../../js/dist/tensor/dtypes.js';
import { Value } from '../js/webgpu/executables.mjs';
import { shrunk } from './shrink.mjs';
import { read, write } from './tool.mjs';

const [folder, option] = process.argv.slice(2);
const range = /^--seeds=(\d+)\.\.(\d+)$/.exec(option ?? '');
if (!folder || !range) {
  console.error('usage: node run_webgpu.mjs FOLDER --seeds=FIRST..END');
  process.exit(2);
}

/** WGSL allows exp, log, division and the like more ulp than the expected numbers do. */
const tolerances = 16;

const views = { f32: Float32Array, i32: Int32Array, bool: Uint8Array };
const device = new WebGpuDevice();

/** ['shaders', what is wrong with an entry], or undefined. */
async function problemOf(test) {
  const { shaders: metadata, constants, inputs, states, expected } = test.line;
  const parts = constants.map(([offset, at, bytes]) => ({ offset, data: test.bytes([at, bytes]) }));
  const program = device.loadExecutable({ metadata, constants: parts });
  const arrayOf = ({ dtype }, range) => new views[dtype](test.bytes(range).slice().buffer);
  const made = [];
  const valueOf = ({ dtype, shape }) => {
    made.push(new Value(device, hostDTypes[dtype], shape));
    return made.at(-1);
  };
  try {
    for (const [index, entry] of metadata.entries.entries()) {
      metadata.states.forEach((port, at) => {
        const data = arrayOf(port, states[port.name]);
        device.write(program.state(at), hostDTypes[port.dtype], data);
      });
      const values = entry.inputs.map((port) => {
        const value = valueOf(port).allocate();
        const data = arrayOf(port, inputs[index][port.name]);
        device.write(value.materialize(), hostDTypes[port.dtype], data);
        return value;
      });
      const results = entry.outputs.map(valueOf);
      program.run(values, results, index);
      const outputs = await Promise.all(results.map((each) => each.read()));
      const after = await Promise.all(
        metadata.states.map(({ dtype, shape }, at) => {
          const size = shape.reduce((product, each) => product * each, 1);
          return device.read(program.state(at), hostDTypes[dtype], size);
        }),
      );
      const problem =
        test.verdictOf(entry.name, entry.outputs, outputs, expected[index].outputs, tolerances) ??
        test.verdictOf(entry.name, metadata.states, after, expected[index].states, tolerances);
      if (problem) return ['shaders', problem];
    }
  } catch (error) {
    return ['shaders', error.message];
  } finally {
    for (const each of made) each.deallocate();
    program.dispose();
  }
  return undefined;
}

const seeds = option.slice('--seeds='.length);
const { lines } = await write(folder, `--functions=${seeds}`, `--models=${seeds}`, '--shaders');
const counts = { passed: 0, failed: Number(/ (\d+) failed, /.exec(lines.at(-1))?.[1] ?? 1) };
if (counts.failed > 0) console.log(lines.join('\n'));
for (const test of read(folder)) {
  const problem = await problemOf(test);
  problem ? counts.failed++ : counts.passed++;
  if (!problem) continue;
  console.log(`${test.line.name}: ${problem[1]}`);
  console.log(await shrunk(test.line.name, problemOf, ['--shaders']));
}
const { bytes } = device.memory();
if (bytes > 0) console.log(`${bytes} bytes are not freed`);
console.log(`${counts.passed} passed, ${counts.failed + Number(bytes > 0)} failed, 0 skipped`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);
