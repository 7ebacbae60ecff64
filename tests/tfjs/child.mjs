// Runs spec files one after the other and sends the result of each spec. Arguments as one JSON text: subject, backend, first,
// only, and files as addresses.
import { createRequire } from 'node:module';
import { runSpecFile } from './spec_file.mjs';
import { hookSubject, specFolder } from './subjects.mjs';

const jasmineRequire = createRequire(import.meta.url)('jasmine-core/lib/jasmine-core/jasmine.js');
const { subject, files, only, ...settings } = JSON.parse(process.argv[2]);
/** Without waiting, what was not yet sent when the process ends is lost. */
const sent = [];
const send = (message) => sent.push(new Promise((resolve) => process.send(message, resolve)));

await hookSubject(subject, settings);
console.warn = () => {};
for (const file of files) {
  const load = () => import(`${specFolder.href}${file}.js`);
  await runSpecFile({ jasmineRequire, file, only, load, send });
}
await Promise.all(sent);
process.disconnect();
