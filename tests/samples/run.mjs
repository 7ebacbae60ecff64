// Compiles the samples of README and guides as strictly as TypeScript can and runs them, in Node or in Chromium; compiles those
// in C++; finds those in C in examples; looks up the verbs of those for the shell. The last line is N passed, M failed, K skipped.
import { spawn, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { closeBrowser, serveFolder, visit } from '../bundlers/lib.mjs';
import { Report } from '../js/browser/checks.mjs';
import { root, samples } from './extract.mjs';

const folder = join(root, 'build/samples');
const inRoot = { cwd: root, encoding: 'utf8' };
const atOnce = 2;
const longest = 120_000;

const scripts = { js: 'ts', ts: 'ts', tsx: 'tsx' };
const compiler = {
  strict: true,
  noUncheckedIndexedAccess: true,
  target: 'ES2022',
  module: 'ES2022',
  moduleResolution: 'bundler',
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  types: ['node'],
  jsx: 'preserve',
  skipLibCheck: true,
  outDir: 'out',
  rootDir: '.',
};
// React is not installed: its samples are compiled and not run.
const react = `declare module 'react' {
  export function useEffect(effect: () => void, inputs: unknown[]): void;
  export function useState<T>(): [T | undefined, (next: T | undefined) => void];
}
declare namespace JSX { interface IntrinsicElements { [name: string]: unknown } }\n`;

const ownTypes = ['tests/samples/types.ts', 'tests/samples/types_tfjs.ts'].map((file) => ({
  ...{ file, line: 1, language: 'ts', given: '' },
  text: readFileSync(join(root, file), 'utf8'),
}));
const all = [...ownTypes, ...samples()].map((each) => ({
  ...each,
  title: `${each.file}:${each.line} (${each.language})`,
  name: `${each.file.replace(/\W/g, '_')}_${each.line}`,
}));
const of = (...languages) => all.filter(({ language }) => languages.includes(language));
const report = new Report();

/** The sample as a module that says when it has ended. */
function moduleOf({ text, given, inPage, language }) {
  const end = language === 'tsx' ? '' : inPage ? `Object.assign(window, { result: true });\n` : '';
  return `${given}${text}${end}export {};\n`;
}

/** Error: a script that needs more than its text. Given may be what ends the process where a file of the user's is missing. */
function checkWhole({ given, language }) {
  if (!(language in scripts) || given.trim() === '' || given.includes('process.exit')) return;
  throw new Error(`a program that is pasted lacks:\n${given}`);
}

/** Compiles all scripts; gives what the compiler says of each by its name. */
function compileScripts(list) {
  for (const each of list) {
    writeFileSync(join(folder, `${each.name}.${scripts[each.language]}`), moduleOf(each));
  }
  writeFileSync(join(folder, 'react.d.ts'), react);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: compiler }));
  const { stdout } = spawnSync(
    'node',
    ['node_modules/typescript/bin/tsc', '-p', folder, '--pretty', 'false'],
    inRoot,
  );
  const said = new Map(list.map(({ name }) => [name, '']));
  let last = '';
  for (const line of stdout.split('\n').filter(Boolean)) {
    last = /(\w+)\.tsx?\(\d/.exec(line)?.[1] ?? last;
    said.set(last, `${said.get(last) ?? ''}\n${line}`);
  }
  return said;
}

/** Runs a compiled sample in a folder of its own. */
function runInNode({ name }) {
  const work = mkdtempSync(join(folder, 'work-'));
  const env = { ...process.env, TENSORLATHE_CACHE: 'off' };
  const child = spawn('node', [join(folder, 'out', `${name}.js`)], { cwd: work, env });
  let said = '';
  for (const each of [child.stdout, child.stderr]) each.on('data', (text) => (said += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), longest);
  return new Promise((done, fail) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) done();
      else fail(new Error(`ended with ${code ?? signal}\n${said}`));
    });
  });
}

const head = `<!doctype html><link rel="icon" href="data:," />
<script type="importmap">{ "imports": { "tensorlathe": "/package/dist/index.js" } }</script>\n`;
const cdn = /https:\/\/cdn\.jsdelivr\.net\/npm\/tensorlathe(@[^/]+)?\//g;

/** A page with the sample in it; one of HTML has ended when it prints. */
function pageOf({ name, language, text, given }) {
  if (language !== 'html') return `${head}<script type="module" src="out/${name}.js"></script>`;
  const printed = `<script>console.log = () => { window.result = true; };</script>\n`;
  return `${head}${printed}${text.replace(cdn, '/package/')}${given}`;
}

async function runInPage(url, sample) {
  writeFileSync(join(folder, `${sample.name}.html`), pageOf(sample));
  await visit(`${url}/${sample.name}.html`);
}

/** Compiles a sample in C++; runs it where what is given has a main, which ends with 0 if all is as the sample says. */
function compileCpp({ name, text, given }) {
  const program = join(folder, name);
  const file = `${program}.cc`;
  writeFileSync(file, given + text);
  const runs = /^int main\(/m.test(given);
  const made = runs
    ? ['-o', program, file, 'build/native/libtensorlathe.a']
    : ['-fsyntax-only', file];
  const { status, stderr } = spawnSync(
    'g++',
    ['-std=c++23', '-Wall', '-I', 'build/native/public', ...made],
    inRoot,
  );
  if (status !== 0) throw new Error(stderr);
  if (!runs) return;
  const ended = spawnSync(program, { cwd: folder, encoding: 'utf8', timeout: longest });
  if (ended.status !== 0) throw new Error(`ended with ${ended.status}: ${ended.stderr}`);
}

/** The verbs that a program lists in two columns. */
function verbsOf(program, argument, line) {
  const { stdout, stderr } = spawnSync(program, [argument], inRoot);
  return new Set([...(stdout + stderr).matchAll(line)].map(([, name]) => name));
}

function checkShell({ text }) {
  const known = {
    './dev': verbsOf('./dev', 'help', /^ {2}(\w+) /gm),
    lathe: verbsOf('build/native/tools/lathe', 'help', /^lathe (\w+)/gm),
  };
  for (const [, program, verb] of text.matchAll(/^(\.\/dev|lathe) +(\w+)/gm)) {
    if (!known[program].has(verb)) throw new Error(`${program} has no verb ${verb}`);
  }
}

/** A sample in C is a part of a file in examples, which the native tests run. */
function checkExcerpt({ text }) {
  const names = readdirSync(join(root, 'examples')).filter((name) => /\.cc?$/.test(name));
  const isPart = (name) => readFileSync(join(root, 'examples', name), 'utf8').includes(text);
  if (!names.some(isPart)) throw new Error('no file in examples has these lines');
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
symlinkSync(join(root, 'build/package'), join(folder, 'package'));
const said = compileScripts(of('js', 'ts', 'tsx'));
const server = await serveFolder(folder);
const left = [...of('js', 'ts', 'tsx', 'html', 'c', 'cpp', 'sh')];
async function work() {
  for (let each = left.shift(); each !== undefined; each = left.shift()) {
    const sample = each;
    await report.check(sample.title, async () => {
      checkWhole(sample);
      if (said.get(sample.name)) throw new Error(said.get(sample.name));
      if (sample.language === 'cpp') compileCpp(sample);
      else if (sample.language === 'c') checkExcerpt(sample);
      else if (sample.language === 'sh') checkShell(sample);
      else if (sample.inPage || sample.language === 'html') await runInPage(server.url, sample);
      else if (sample.language !== 'tsx') await runInNode(sample);
    });
  }
}
await Promise.all(Array.from({ length: atOnce }, work));
server.stop();
await closeBrowser();
report.end();
process.exit();
