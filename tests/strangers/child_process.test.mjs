// The support that the other files use: what a program that does not end, or ends by a signal, looks like.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInChildProcess } from './support/child_process.mjs';

test('a program that does not end is stopped', async () => {
  const { stopped, code } = await runInChildProcess('for (;;);', { seconds: 1 });
  assert.deepEqual({ stopped, code }, { stopped: true, code: null });
});

test('output, code and errors of a program', async () => {
  const ended = await runInChildProcess("console.log('said'); process.exit(3);");
  assert.deepEqual([ended.output, ended.code, ended.stopped], ['said\n', 3, false]);
});
