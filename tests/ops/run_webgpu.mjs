// Runs the shaders that ops_test wrote on WebGPU in Node (Dawn, npm `webgpu`) on SwiftShader, the software Vulkan that
// comes with Debian's chromium, and compares with the expected results. With --every=N only of every Nth case, with --gpu on the
// GPU of the machine. Shaders with features that it does not have are compiled by Dawn without a GPU, and not run.
// Usage: node run_webgpu.mjs DIRECTORY [--every=N] [--gpu]

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openReason } from './webgpu_differences.mjs';

const swiftShader = {
  VK_DRIVER_FILES: '/usr/lib/chromium/vk_swiftshader_icd.json',
  LD_LIBRARY_PATH: '/usr/lib/chromium', // libvulkan.so.1
};

const optional = ['shader-f16'];

async function deviceOf(gpu) {
  const adapter = await gpu.requestAdapter();
  const requiredFeatures = optional.filter((each) => adapter?.features.has(each));
  return adapter?.requestDevice({ requiredFeatures });
}

async function main() {
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  const { compileCase, runWebGpuCase } = await import('./run_webgpu_case.mjs');
  // Devices do not survive the collection of what makes them.
  globalThis.gpu = create(['backend=vulkan', 'enable-dawn-features=vulkan_enable_f16_on_nvidia']);
  globalThis.noGpu = create(['backend=null']);
  const device = await deviceOf(gpu);
  if (!device) throw new Error('no WebGPU adapter: is the Debian package chromium installed?');
  const compiler = await deviceOf(noGpu);
  const text = readFileSync(join(process.argv[2], 'webgpu.jsonl'), 'utf8');
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  let compiled = 0;
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { every: { type: 'string', default: '1' }, gpu: { type: 'boolean' } },
  });
  const every = Number(values.every);
  const lines = text.split('\n').filter((line, at) => line && at % every === 0);
  for (const line of lines) {
    const test = JSON.parse(line);
    const runs = (test.shaders?.features ?? []).every((each) => device.features.has(each));
    const problem =
      test.rejected ?? (await (runs ? runWebGpuCase(test, device) : compileCase(test, compiler)));
    if (!runs) compiled++;
    const reason = problem && openReason(test, problem);
    if (reason) {
      console.log(`${test.name}: skipped, ${problem} (${reason})`);
      skipped++;
      continue;
    }
    if (problem) console.log(`${test.name}: ${problem}`);
    problem ? failed++ : passed++;
  }
  device.destroy();
  if (compiled > 0) console.log(`${compiled} only compiled`);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}

// The loader of shared libraries reads its path once, when a process starts.
const isReady = process.env.VK_DRIVER_FILES === swiftShader.VK_DRIVER_FILES;
if (isReady || process.argv.includes('--gpu')) {
  await main();
} else {
  const env = { ...process.env, ...swiftShader };
  const node = spawnSync(process.execPath, process.argv.slice(1), { env, stdio: 'inherit' });
  if (node.signal) console.log(`ended by ${node.signal}`);
  process.exit(node.status ?? 1);
}
