// Runs the shaders that ops_test wrote on WebGPU in Node (Dawn, npm `webgpu`) on SwiftShader, the software Vulkan that
// comes with Debian's chromium, and compares with the expected results. Usage: node run_webgpu.mjs DIRECTORY

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const swiftShader = {
  VK_DRIVER_FILES: '/usr/lib/chromium/vk_swiftshader_icd.json',
  LD_LIBRARY_PATH: '/usr/lib/chromium', // libvulkan.so.1
};

/** Refusals that are known: fusion does not yet stop at the buffers that a kernel can bind; loops need the host. */
const known =
  /it touches \d+ buffers; WebGPU binds 8$|has loops over time steps, which WebGPU does not run yet/;

/** Cases whose numbers differ because WGSL leaves open what NaN, infinities and subnormals, which they meet, become. */
const open = new Set([
  'rows_with_nans',
  ...['graph_60', 'graph_68'],
  ...['module_56', 'module_66', 'module_98', 'module_150'],
]);
const isOpen = (test, problem) =>
  test.irregular && open.has(test.name) && /: want .*, got /.test(problem);

async function main() {
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  const { runWebGpuCase } = await import('./run_webgpu_case.mjs');
  globalThis.gpu = create(['backend=vulkan']); // devices do not survive its collection
  const adapter = await gpu.requestAdapter();
  if (!adapter) throw new Error('no WebGPU adapter: is the Debian package chromium installed?');
  const device = await adapter.requestDevice();
  const text = readFileSync(join(process.argv[2], 'webgpu.jsonl'), 'utf8');
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  for (const line of text.split('\n').filter(Boolean)) {
    const test = JSON.parse(line);
    const problem = test.refused ?? (await runWebGpuCase(test, device));
    if (problem && (known.test(problem) || isOpen(test, problem))) {
      console.log(`${test.name}: skipped, ${problem}`);
      skipped++;
      continue;
    }
    if (problem) console.log(`${test.name}: ${problem}`);
    problem ? failed++ : passed++;
  }
  device.destroy();
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}

// The loader of shared libraries reads its path once, when a process starts.
if (process.env.VK_DRIVER_FILES === swiftShader.VK_DRIVER_FILES) {
  await main();
} else {
  const env = { ...process.env, ...swiftShader };
  const node = spawnSync(process.execPath, process.argv.slice(1), { env, stdio: 'inherit' });
  if (node.signal) console.log(`ended by ${node.signal}`);
  process.exit(node.status ?? 1);
}
