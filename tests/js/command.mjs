// Runs the command `lathe` on saved models, for tests that compare it with the package.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const program = fileURLToPath(new URL('../../build/native/tools/lathe', import.meta.url));
/** Why tests of the command cannot run, or false. */
export const skip = existsSync(program) ? false : `${program} is not built`;

/** Result of the command: {status, stdout, stderr}; stdout as bytes, unless it goes to an open file. */
export function lathe(args, { input = '', cwd, stdout: to = 'pipe' } = {}) {
  const settings = { input, cwd, maxBuffer: 2 ** 30, stdio: ['pipe', to, 'pipe'] };
  const { status, stdout, stderr } = spawnSync(program, args, settings);
  return { status, stdout, stderr: stderr.toString() };
}

/** The output of the command as text. Error: it has failed. */
export function run(...args) {
  const { status, stdout, stderr } = lathe(args);
  assert.equal(status, 0, stderr);
  return stdout.toString();
}

/** Calls a function with a new folder, which is removed afterwards. */
export async function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes the parts of a model as model.json and one weight file. */
export function writeModel(folder, { weightSpecs, weightData, ...rest }) {
  const parts = [weightData ?? []].flat().map((part) => Buffer.from(part));
  writeFileSync(join(folder, 'weights.bin'), Buffer.concat(parts));
  const weightsManifest = [{ paths: ['weights.bin'], weights: weightSpecs }];
  writeFileSync(join(folder, 'model.json'), JSON.stringify({ ...rest, weightsManifest }));
}

/** The network that the command reads from a saved model. */
export const networkOf = (source) => JSON.parse(run('inspect', '--json', source)).network;

const types = { f32: Float32Array, i32: Int32Array };

/** A module without imports: its entries as functions of arrays. */
export function instantiate(bytes) {
  const module = new WebAssembly.Module(bytes);
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  const { exports } = new WebAssembly.Instance(module);
  const [section] = WebAssembly.Module.customSections(module, 'tensorlathe');
  const { entries } = JSON.parse(new TextDecoder().decode(section));
  const windowOn = ({ dtype, shape, offset }) =>
    new types[dtype](
      exports.memory.buffer,
      offset,
      shape.reduce((a, b) => a * b, 1),
    );
  const functionOf = (entry) => (inputs) => {
    inputs.forEach((values, at) => windowOn(entry.inputs[at]).set(values));
    exports[entry.name]();
    return entry.outputs.map((output) => windowOn(output).slice());
  };
  return Object.fromEntries(entries.map((entry) => [entry.name, functionOf(entry)]));
}

/** Predictions of the module that the command compiles from a saved model; `shapes`: shapes of the inputs. */
export function predictions(source, inputs, shapes) {
  return inFolder((folder) => {
    const network = networkOf(source);
    const sizes = inputShapes(network).flatMap((shape, at) =>
      shape.flatMap((size, axis) => (size === null ? [shapes[at][axis + 1]] : [])),
    );
    const file = join(folder, 'module.wasm');
    const sizeFlags = sizes.length === 0 ? [] : [`--sizes=${sizes.join()}`];
    run('compile', source, '-o', file, `--batch=${shapes[0][0]}`, ...sizeFlags);
    return instantiate(readFileSync(file)).predict(inputs);
  });
}

function inputShapes({ inputs, layers }) {
  if (inputs !== undefined) return inputs.map(({ shape }) => shape);
  const { config } = layers[0];
  return 'layers' in config ? inputShapes(config) : [config.inputShape];
}
