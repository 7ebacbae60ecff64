// Minimizes the linked WebAssembly modules of build/wasm32 for the npm package: lathe-NAME.wasm to lathe-NAME.min.wasm, where the
// latter is missing or older. The large ones take minutes, so `./dev build` does without.  node js/scripts/minimize.mjs NAME
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { namedByResemblance } from './order_functions.mjs';
import { runProgram } from './run_program.mjs';

/** The modules of the core, those that take longest to minimize first. */
export const modules = ['core-onnx', 'core', 'onnx', 'onnx-export', 'webgpu', 'formats', 'text'];

// Proposals by name: with all of them, wasm-opt emits code that Node 20 rejects.
const features = ['bulk-memory', 'mutable-globals', 'nontrapping-float-to-int', 'sign-ext'].map(
  (feature) => `--enable-${feature}`,
);

// The linker puts the end of the stack at address 0, so nothing points into the first KiB.
const SMALL = [
  '-Oz',
  '--low-memory-unused',
  '--always-inline-max-function-size=4',
  '--one-caller-inline-max-function-size=0',
];
/** Passes of the first run, which reconstruct control flow from branches. */
const ANEW = ['--flatten', '--rereloop'];
const BARE = ['--strip-debug', '--strip-producers', '--strip-target-features'];

/** The path of a linked module; `which` is '' or '.min'. */
export const moduleFile = (name, which = '') =>
  fileURLToPath(new URL(`../../build/wasm32/lathe-${name}${which}.wasm`, import.meta.url));

/** Minimizes those of `modules` that are not yet, each in a process, as many at once as there are processors; exits if one fails. */
export async function minimize() {
  const left = modules.filter((name) => {
    const [linked, minimized] = [moduleFile(name), moduleFile(name, '.min')];
    return !existsSync(minimized) || statSync(minimized).mtimeMs < statSync(linked).mtimeMs;
  });
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let name = left.shift(); name !== undefined; name = left.shift()) {
        const args = [fileURLToPath(import.meta.url), name];
        const [status] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit');
        if (status !== 0) process.exit(status ?? 1);
      }
    }),
  );
}

/** Runs wasm-opt three times, then orders the functions for the best compression. */
async function shrink(name) {
  const part = `${moduleFile(name, '.min')}.part`;
  const optimize = (from, ...how) =>
    runProgram('binaryen', 'wasm-opt', from, ...how, ...BARE, ...features, '-o', part);
  await optimize(moduleFile(name), ...ANEW, ...SMALL);
  await optimize(part, ...SMALL);
  await optimize(part, ...SMALL);
  writeFileSync(part, namedByResemblance(readFileSync(part)));
  await optimize(part, '--reorder-functions-by-name');
  renameSync(part, moduleFile(name, '.min'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await shrink(process.argv[2]);
