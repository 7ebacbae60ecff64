// Runs the shaders that ops_test wrote for the least of limits in Chromium, on an adapter of the compatibility level (OpenGL ES
// by SwiftShader), and compares with the expected results. With --every=N only of every Nth case.
// Usage: node run_webgpu_compatible.mjs DIRECTORY [--every=N]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { serve } from '../js/browser/server.mjs';
import { openReason } from './webgpu_differences.mjs';

const args = [
  '--no-sandbox',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--enable-unsafe-webgpu',
  '--ignore-gpu-blocklist',
  '--use-webgpu-adapter=opengles',
];

/** In the page: a device of the compatibility level. */
async function open() {
  const { runWebGpuCase } = await import('/tests/ops/run_webgpu_case.mjs');
  const adapter = await navigator.gpu.requestAdapter({ featureLevel: 'compatibility' });
  if (adapter === null) throw new Error('Chromium has no adapter of the compatibility level');
  if (adapter.features.has('core-features-and-limits')) throw new Error('it is of the core level');
  const device = await adapter.requestDevice();
  globalThis.runCase = (line) => runWebGpuCase(JSON.parse(line), device);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { every: { type: 'string', default: '1' } },
});
const text = readFileSync(join(positionals[0], 'webgpu_compatible.jsonl'), 'utf8');
const lines = text.split('\n').filter((line, at) => line && at % Number(values.every) === 0);

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
const server = await serve(true);
const counts = { passed: 0, failed: 0, skipped: 0 };
try {
  const page = await browser.newPage();
  const timeout = 120_000;
  await page.goto(`${server.url}/tests/js/browser/page.html`, { timeout });
  await page.evaluate(open);
  for (const line of lines) {
    const test = JSON.parse(line);
    const problem = test.rejected ?? (await page.evaluate((each) => runCase(each), line));
    const reason = problem && openReason(test, problem);
    if (problem) console.log(`${test.name}: ${reason ? `skipped (${reason}), ` : ''}${problem}`);
    counts[reason ? 'skipped' : problem ? 'failed' : 'passed'] += 1;
  }
} finally {
  await browser.close();
  server.stop();
}
const { passed, failed, skipped } = counts;
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
