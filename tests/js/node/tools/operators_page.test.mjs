// docs/operators.md matches the table of operators and the expected failures.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { skip } from '../../command.mjs';
import { missingData } from '../../../../tools/data.mjs';

const absent = missingData('onnx/cases.json');

test('the page of operators is up to date', { skip: skip || absent }, () => {
  const script = fileURLToPath(new URL('../../../../tools/docs/operators.mjs', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});
