// ./dev and the runner of the suites: help, errors, output.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { speedupOf } from '../../../../bench/summary.mjs';
import { obstacles } from '../../../../tools/release.mjs';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
/** Node skips test files of processes that are part of a test. */
const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
const call = (program, ...args) => spawnSync(program, args, { cwd: root, encoding: 'utf8', env });

test('help lists every verb', () => {
  const { status, stdout } = call('./dev', 'help');
  assert.equal(status, 0);
  const verbs = readFileSync(`${root}/dev`, 'utf8').match(/^case \$verb in\n[^]*/m)[0];
  const verbNames = [...verbs.matchAll(/^ {2}(?:"" \| )?(\w+)(?: \|.*)?\)/gm)].map(
    ([, name]) => name,
  );
  const listed = [...stdout.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name);
  assert.ok(verbNames.includes('test'));
  assert.deepEqual(listed.sort(), verbNames.sort());
});

test('a release needs one version everywhere and a clean work tree', () => {
  const manifest = '{ "version": "1.2.3" }';
  const cmake = 'project(tensorlathe VERSION 1.2.3 LANGUAGES CXX)';
  const changelog = '# Changelog\n\n## 1.2.3 (2027-01-31)\n';
  const of = (changes) => obstacles({ manifest, cmake, changelog, status: '', ...changes });
  assert.deepEqual(of({}), []);
  assert.match(
    of({ cmake: cmake.replace('1.2.3', '1.2.2') }).join(),
    /CMakeLists\.txt has version 1\.2\.2/,
  );
  assert.match(
    of({ changelog: '## Unreleased' }).join(),
    /begins with "Unreleased", not with "1\.2\.3/,
  );
  assert.match(of({ status: ' M a' }).join(), /the work tree has changes:\n M a/);
});

test('an unknown verb is named', () => {
  const { status, stderr } = call('./dev', 'tset');
  assert.equal(status, 2);
  assert.match(stderr, /unknown verb: tset/);
});

test('an unknown name is named, with the nearest ones and the list of suites', () => {
  const errors = (...names) => {
    const { status, stderr } = call('python3', 'tools/run_tests.py', ...names);
    assert.equal(status, 1);
    return stderr;
  };
  assert.match(
    errors('js-nod', 'ops'),
    /^no suite, test file or test: js-nod; nearest: js-node [^]*\nthe suites are\n.*\bctest-native\b/,
  );
  assert.match(errors('loop/verfy'), /nearest: tests\/unit\/loop\/verify_test\.cc /);
  assert.match(
    errors('eager_transform_jit'),
    /nearest: tests\/js\/node\/eager\/transform\/jit\.test\.mjs\n/,
  );
  assert.match(errors('no such thing'), /nearest: none\n/);
});

const builds = (...names) =>
  call('python3', 'tools/run_tests.py', '--builds', ...names).stdout.trim();

test('--builds lists what a suite needs', () => {
  assert.equal(builds('check-layers'), '');
  assert.equal(builds('ctest-native'), 'native');
  assert.equal(builds('ops-node'), 'native dist');
  assert.equal(builds('bundlers', 'ctest-clang'), 'package clang');
  assert.equal(builds(), 'native package clang docs site');
});

test('test files are named by their path or a part of it, and need only their program', () => {
  for (const name of ['tests/unit/loop/verify_test.cc', 'tests/unit/loop/verify', 'loop/verify'])
    assert.equal(builds(name), 'native:loop_test');
  assert.equal(builds('loop/verify', '--quick'), 'edit:loop_test');
  for (const name of ['tests/js/node/eager/transform/jit.test.mjs', 'transform/jit', 'jit'])
    assert.equal(builds(name), 'dist');
  assert.equal(builds('tools/command_line_run'), 'native:lathe dist');
  assert.equal(builds('standalone/train_module'), 'native:lathe native:mnist dist');
  assert.equal(builds('tools/notices'), 'package');
});

test('a part of a title runs the tests whose titles contain it', () => {
  const { stdout } = call('python3', 'tools/run_tests.py', 'an unknown VERB is named');
  assert.match(stdout, /^\[1 of 1\] tests\/js\/node\/tools\/dev: 1 passed, 0 failed, 0 skipped/m);
  assert.equal(builds('AcceptsAddressesInside'), 'native:loop_test');
});

test('each suite reports its start and its counts; the last line is the sum', () => {
  const { status, stdout } = call('python3', 'tools/run_tests.py', 'check-layers', 'check-sizes');
  assert.equal(status, 0);
  const lines = stdout.trim().split('\n');
  for (const name of ['check-layers', 'check-sizes'])
    assert.ok(lines.includes(`${name} …`), stdout);
  const ends = lines.filter((line) => line.startsWith('['));
  assert.match(ends[0], /^\[1 of 2\] check-\w+: 1 passed, 0 failed, 0 skipped in \d+ s \(/);
  assert.match(ends[1], /^\[2 of 2\] check-\w+: 1 passed/);
  assert.equal(lines.at(-1), '2 passed, 0 failed, 0 skipped');
});

test('a suite with the name of its build does not wait for itself', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-'));
  writeFileSync(join(folder, 'node'), '#!/bin/sh\necho 7 passed, 0 failed, 0 skipped\n', {
    mode: 0o755,
  });
  const { stdout } = spawnSync('timeout', ['20', 'python3', 'tools/run_tests.py', 'docs'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...env, PATH: `${folder}:${env.PATH}` },
  });
  rmSync(folder, { recursive: true });
  assert.match(stdout, /^\[1 of 1\] docs: 7 passed, 0 failed/m);
});

test('the table of speed in README is that of docs/benchmarks', () => {
  const { stdout } = call('node', 'bench/summary.mjs');
  const readme = readFileSync(`${root}/README.md`, 'utf8');
  assert.ok(readme.includes(stdout.trim()), 'node bench/summary.mjs --write puts it there');
});

test('the page names the speedup of docs/benchmarks that README has', () => {
  const readme = readFileSync(`${root}/README.md`, 'utf8');
  const [, inReadme] = /docs\/benchmarks\/train\.md\).*\*\*([\d.]+)×\*\*/.exec(readme);
  assert.equal(speedupOf('train'), inReadme);
  assert.throws(() => speedupOf('trains'), /no speedup of trains is measured/);
  const page = readFileSync(`${root}/apps/playground/index.html`, 'utf8');
  assert.match(page, />\s*<!-- speedup train -->\s+times as fast/);
  assert.doesNotMatch(page, /\d\s+times as fast/);
});
