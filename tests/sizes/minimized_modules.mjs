// `node --import ./tests/sizes/minimized_modules.mjs PROGRAM` runs a program on the minimized modules of the core in build/wasm32,
// and fails if it has read none.
import fs from 'node:fs';
import { moduleFile } from '../../js/scripts/minimize.mjs';

const { readFileSync } = fs;
let isRead = false;
fs.readFileSync = (path, ...options) => {
  const name = /[/]js[/]dist[/]core[/]lathe-([\w-]+)[.]wasm$/.exec(String(path))?.[1];
  isRead ||= name !== undefined;
  return readFileSync(name === undefined ? path : moduleFile(name, '.min'), ...options);
};
process.on('exit', () => {
  if (isRead) return;
  console.error('minimized_modules.mjs: nothing read a module of js/dist/core');
  process.exitCode = 1;
});
