// Installs the packed package into new projects of many tools, builds and runs them. Without names those that need no package
// of others; --all: all of them, which npm has to fetch. The last line is N passed, M failed, K skipped.
import { Report } from '../js/browser/checks.mjs';
import { importMap, webpackAliases } from './in_place_of_onnxruntime.mjs';
import { closeBrowser } from './lib.mjs';
import * as plain from './plain.mjs';
import * as tools from './tools.mjs';

const always = { ...plain, importMap, esbuild: tools.esbuild };
const cases = { ...plain, importMap, ...tools, webpackAliases };
const names = process.argv.slice(2);
const wanted =
  names[0] === '--all' ? Object.keys(cases) : names.length > 0 ? names : Object.keys(always);
const report = new Report();
for (const name of wanted) await report.check(name, cases[name]);
await closeBrowser();
report.end();
process.exit(); // whatever a case that failed has left open
