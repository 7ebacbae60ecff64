// Runs the ONNX backend cases of cases.mjs and prints each case that fails, a summary for each category and the counts.
//   node tests/js/onnx/conformance.mjs [--chromium | --facade | --ort | --shaders | --webgpu] [--all] [--category=node] [--write-expected] [NAME …]
// A case of expected_failures.txt that fails counts as skipped, one that passes as failed: the list contains exactly the failing cases.
// --chromium: in a page instead of Node. --facade: by tensorlathe/onnxruntime instead of tl.loadModel; what its tensors have no
// type for is skipped. --ort: with ONNX Runtime Web in Node, whose failures are skips. --shaders: as shaders in Node; what is no one
// graph, or needs float64, is skipped, and expected_failures_shaders.txt lists further failures. --webgpu: models on that device;
// where and why is counted. --all: also prints what passes.
import { readFileSync, writeFileSync } from 'node:fs';
import { areNewest, readCases } from './cases.mjs';
import { ShaderRunner, PageRunner, ThreadRunner } from './runners.mjs';

const expectedFile = new URL('expected_failures.txt', import.meta.url);
const expectedFiles = areNewest
  ? [expectedFile]
  : [expectedFile, new URL('expected_failures_1_12.txt', import.meta.url)];
const flags = new Set(process.argv.slice(2).filter((each) => each.startsWith('--')));
const names = process.argv.slice(2).filter((each) => !each.startsWith('--'));
const category = [...flags].find((each) => each.startsWith('--category='))?.split('=')[1];
const withOrt = flags.has('--ort');
const asShaders = flags.has('--shaders');
const shaderFile = new URL('expected_failures_shaders.txt', import.meta.url);
const engine = withOrt
  ? 'onnxruntime-web'
  : `tensorlathe${flags.has('--facade') ? '/onnxruntime' : ''}`;

/** Types that the API of ONNX Runtime Web does not have. */
const noType =
  /^Unsupported tensor type: (bfloat16|float[48]|u?int2)|the model expects tensor\(bfloat16\)/;
/** Cases that shaders do not compute by design. */
const noShader = /^no graph: |^no shaders: shaders have no f64,/;
const isSkip = (why) =>
  withOrt || (flags.has('--facade') && noType.test(why)) || (asShaders && noShader.test(why));

/** Expected failures: reasons by case. */
function readExpected(files) {
  if (withOrt) return new Map();
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').split('\n'));
  const entries = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(entries.map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]));
}

const cases = readCases();
const expectedFailures = readExpected(asShaders ? [...expectedFiles, shaderFile] : expectedFiles);
const mustFail = asShaders ? readExpected([shaderFile]) : expectedFailures;
const isSelected = (each) =>
  (names.length === 0 || names.includes(each.name)) &&
  (category === undefined || each.category === category);
const selected = cases.filter(isSelected);
const summary = new Map();
const counts = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const onGpu = flags.has('--webgpu');
const placements = new Map();
const makeRunner = { '--chromium': () => new PageRunner(), '--shaders': () => new ShaderRunner() };
const other = Object.keys(makeRunner).find((flag) => flags.has(flag));
const runner = makeRunner[other]?.() ?? new ThreadRunner(engine, onGpu ? { device: 'webgpu' } : {});
for (const each of selected) {
  const why = (await runner.why(each))?.replaceAll(/\s*\n\s*/g, ' ');
  const of = summary.get(each.category) ?? { passed: 0, all: 0 };
  summary.set(each.category, of);
  of.all++;
  if (why === undefined) of.passed++;
  else failures.push([each.name, why]);
  note(each, why);
  const { device, reason = '' } = runner.placement ?? {};
  const where = `${device} ${reason}`.replaceAll(/\d+/g, 'N').trim();
  placements.set(where, (placements.get(where) ?? 0) + 1);
}
await runner.end();

/** Counts and prints a result. */
function note({ name, ort_web_1_30: ort }, why) {
  const isExpected = expectedFailures.has(name);
  if (why === undefined && mustFail.has(name)) {
    counts.failed++;
    console.log(`FAIL ${name}: passes; remove it from the expected failures`);
  } else if (why === undefined) {
    counts.passed++;
    if (flags.has('--all')) console.log(`pass ${name}`);
  } else if (isExpected || isSkip(why)) {
    counts.skipped++;
    console.log(`expected ${name}: ${why.slice(0, 300)}`);
  } else {
    counts.failed++;
    const peer = ort === 'pass' ? ' (ONNX Runtime Web passes)' : '';
    console.log(`FAIL ${name}${peer}: ${why.slice(0, 300)}`);
  }
}

if (asShaders) {
  const graphs = selected.length - failures.filter(([, why]) => /^no graph: /.test(why)).length;
  const refused = failures.filter(([, why]) => /^no shaders: /.test(why)).length;
  console.log(`${graphs - refused} of ${graphs} graphs become shaders`);
}
if (names.length === 0 && category === undefined && !withOrt && !asShaders && areNewest) {
  const all = new Set(cases.map(({ name }) => name));
  for (const name of expectedFailures.keys()) {
    if (all.has(name)) continue;
    counts.failed++;
    console.log(`FAIL ${name}: there is no such case; remove it from expected_failures.txt`);
  }
}
if (flags.has('--write-expected') && areNewest && !asShaders) {
  const head = '# ONNX backend cases that fail, each with its reason; conformance.mjs reads it.\n';
  const lines = failures.map(
    ([name, why]) => `${name}: ${expectedFailures.get(name) ?? why.slice(0, 160)}\n`,
  );
  writeFileSync(expectedFile, head + lines.sort().join(''));
}
for (const [name, { passed, all }] of summary) {
  console.log(`${name}: ${passed} of ${all} pass, ${((100 * passed) / all).toFixed(1)} %`);
}
if (onGpu) {
  const byCount = [...placements].sort((a, b) => b[1] - a[1]);
  for (const [where, count] of byCount) console.log(`${count} on ${where}`);
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;
