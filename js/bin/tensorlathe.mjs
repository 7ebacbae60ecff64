#!/usr/bin/env node
// `npx tensorlathe`: looks at models, serves a folder, creates a starter. Other verbs are those of `lathe`, which is in the package
// tensorlathe-linux-x64 or on the PATH.
import { spawnSync } from 'node:child_process';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const native = 'tensorlathe-linux-x64';
/** Verbs: arguments, and lines of help. */
const verbs = {
  inspect: [
    'MODEL',
    'inputs and outputs of an .onnx file; layers of a model.json',
    'MODEL may be a folder with one model, or a .wasm file, which the command lathe prints.',
  ],
  serve: [
    '[FOLDER] [PORT]',
    'a folder for pages with threads: headers COOP and COEP',
    'FOLDER is the working directory and PORT 8080 if they are left out. Port 0 is any free one.\nOnly this machine can connect. Ctrl+C ends it.',
  ],
  create: [
    'node|vite NAME',
    'a folder with a program that trains a network',
    'NAME is the new folder: `npm install` in it, then `npm start` (node) or `npm run dev` (vite).',
  ],
  compile: ['MODEL -o OUT.wasm', 'a model with its weights to one module'],
  convert: ['MODEL -o FOLDER|OUT.onnx', 'a model for TensorFlow.js or ONNX'],
  run: ['MODEL.onnx --input FILE', 'an ONNX model on files'],
  wat: ['FILE.wasm', 'a module as text'],
  validate: ['FILE.wasm', 'checks a module'],
  passes: ['', 'the passes of the compiler'],
  operators: ['', 'the operators of ONNX that can be imported'],
  describe: ['', 'the tables of the compiler as JSON'],
  completion: ['bash|zsh|fish', 'completes its words in a shell'],
};
const ownVerbs = ['inspect', 'serve', 'create'];
const line = (verb) => `  ${`${verb} ${verbs[verb][0]}`.padEnd(34)}${verbs[verb][1]}`;
const usage = `usage: npx tensorlathe VERB [ARGUMENTS]

${ownVerbs.map(line).join('\n')}

of the command lathe, in the npm package ${native} or on the PATH:

${Object.keys(verbs)
  .filter((verb) => !ownVerbs.includes(verb))
  .map(line)
  .join('\n')}

  --version; VERB --help`;

const isHelp = (word) => /^(--help|-h)$/.test(word);

class UsageError extends Error {}

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
  '.wav': 'audio/wav',
  '.txt': 'text/plain; charset=utf-8',
  '.map': 'application/json',
};

/** The one model in a folder. */
function modelIn(folder) {
  const isModel = (name) => name === 'model.json' || /\.onnx$/i.test(name);
  const inFolder = (below) =>
    existsSync(join(folder, below))
      ? readdirSync(join(folder, below))
          .filter(isModel)
          .map((name) => join(folder, below, name))
      : [];
  const models = [...inFolder('.'), ...inFolder('onnx')];
  if (models.length === 1) return models[0];
  throw new UsageError(
    `inspect: ${folder} is a folder ${models.length === 0 ? 'without a model (.onnx, model.json)' : `with several models: ${models.join(', ')}`}`,
  );
}

async function inspect(file) {
  if (file === undefined) throw new UsageError('inspect: a model is needed');
  if (existsSync(file) && statSync(file).isDirectory()) {
    const model = modelIn(file);
    console.log(model);
    return inspect(model);
  }
  if (/\.wasm$/i.test(file)) return runLathe(['inspect', file]);
  const tl = await import('tensorlathe');
  if (/\.json$/i.test(file)) {
    const model = await tl.loadLayersModel(file);
    model.summary();
    return;
  }
  const model = await tl.loadModel(file);
  for (const [kind, ports] of [
    ['input', model.inputs],
    ['output', model.outputs],
  ]) {
    for (const { name, dtype, shape } of ports) {
      console.log(
        `${kind.padEnd(6)}  ${name}  ${dtype} [${shape?.map((size) => size ?? '?').join(', ') ?? '…'}]`,
      );
    }
  }
  for (const [name, value] of Object.entries(model.metadata)) console.log(`${name}: ${value}`);
  model.dispose();
}

/** The path of a request; undefined if it is not encoded as one. */
function pathOf(url) {
  try {
    return decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return undefined;
  }
}

/** Serves files of a folder to this machine only. */
function serve(folder = '.', port = '8080') {
  // A number alone that is no folder.
  if (/^\d+$/.test(folder) && !existsSync(folder)) [folder, port] = ['.', folder];
  const root = resolve(folder);
  if (!existsSync(root)) throw new UsageError(`serve: ${folder} does not exist`);
  if (!statSync(root).isDirectory()) throw new UsageError(`serve: ${folder} is no folder`);
  if (!(Number(port) >= 0 && Number(port) < 65536))
    throw new UsageError(`serve: ${port} is no port, a number below 65536`);
  const server = createServer((request, response) => {
    const path = pathOf(request.url);
    if (path === undefined) {
      response.writeHead(400).end('bad address');
      return;
    }
    let file = resolve(root, `.${path}`);
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, 'index.html');
    const isInside = file.startsWith(root.endsWith(sep) ? root : root + sep);
    if (!isInside || !existsSync(file)) {
      response.writeHead(404).end('not found');
      return;
    }
    response.writeHead(200, {
      'Content-Type': types[extname(file)] ?? 'application/octet-stream',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    });
    createReadStream(file)
      .on('error', (error) => response.destroy(error))
      .pipe(response);
  });
  server.on('error', (error) => {
    console.error(`tensorlathe: ${error.message}`);
    process.exitCode = 1;
  });
  server.listen(Number(port), '127.0.0.1', () => {
    console.log(`http://localhost:${server.address().port} serves ${root}`);
  });
}

const program = `import * as tl from 'tensorlathe';

await tl.ready();
const x = tl.randomUniform([2000, 2], -1, 1); // points of a square
const y = x.square().sum(1).less(0.5); // which of them are in a circle
const model = tl.sequential();
model.add(tl.layers.dense({ units: 32, activation: 'relu', inputShape: [2] }));
model.add(tl.layers.dense({ units: 2, activation: 'softmax' }));
model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics: ['accuracy'] });
await model.fit(x, y, { epochs: 30, batchSize: 64 });
const { acc } = model.evaluate(x, y, { asObject: true });
`;

const starters = {
  node: {
    files: { 'main.js': `${program}console.log(\`accuracy \${acc}\`);\n` },
    scripts: { start: 'node main.js' },
    start: 'npm start',
  },
  vite: {
    files: {
      'main.js': `${program}document.querySelector('p').textContent = \`accuracy \${acc}\`;\n`,
      'index.html':
        '<!doctype html>\n<meta charset="utf-8" />\n<title>Tensorlathe</title>\n<p>training …</p>\n<script type="module" src="/main.js"></script>\n',
    },
    scripts: { dev: 'vite', build: 'vite build' },
    devDependencies: { vite: '^8.0.0' },
    start: 'npm run dev',
  },
};

const own = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** The tarball or folder that this package was installed from, if it is not from a registry. */
function localSource() {
  const project = fileURLToPath(new URL('../../..', import.meta.url));
  try {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(project, 'package.json'), 'utf8'),
    );
    const { tensorlathe = '' } = { ...devDependencies, ...dependencies };
    return tensorlathe.startsWith('file:')
      ? `file:${resolve(project, tensorlathe.slice(5))}`
      : undefined;
  } catch {
    return undefined;
  }
}

function create(kind, name) {
  const starter = Object.hasOwn(starters, kind ?? '') ? starters[kind] : undefined;
  if (starter === undefined || !name) throw new UsageError('create: node or vite, and a name');
  if (existsSync(name)) throw new UsageError(`create: ${name} exists`);
  const { scripts, devDependencies } = starter;
  const source = localSource();
  const dependencies = { tensorlathe: source ?? `^${own.version}` };
  const manifest = { private: true, type: 'module', scripts, dependencies, devDependencies };
  mkdirSync(name, { recursive: true });
  const files = { ...starter.files, 'package.json': `${JSON.stringify(manifest, null, 2)}\n` };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(name, file), text);
  console.log(
    `cd ${/^[\w./-]+$/.test(name) ? name : JSON.stringify(name)} && npm install && ${starter.start}`,
  );
  if (source === undefined) {
    console.error(
      `Where npm answers that there is no tensorlathe: npm install PATH/tensorlathe-${own.version}.tgz`,
    );
  }
}

/** The command of the npm package, or else the one on the PATH. */
function findLathe() {
  try {
    const { resolve: find } = createRequire(import.meta.url);
    return join(dirname(find(`${native}/package.json`)), 'bin/lathe');
  } catch {
    return 'lathe';
  }
}

const needsLathe = (verb) =>
  `${verb} needs the command lathe: npm install ${native}, or a build of it on the PATH`;

function runLathe(words) {
  const { status, error } = spawnSync(findLathe(), words, { stdio: 'inherit' });
  if (error === undefined) process.exitCode = status ?? 1;
  else if (words.some(isHelp)) printHelp(words[0]);
  else throw new UsageError(needsLathe(words[0]));
}

function printHelp(verb) {
  const [args, what, more] = verbs[verb];
  console.log(`usage: npx tensorlathe ${verb} ${args}\n\n${what}\n${more ?? needsLathe(verb)}`);
}

/** The edit distance (V. Levenshtein, 1966). */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(row[j] + (letter === b[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1));
    row = next;
  }
  return row[b.length];
}

/** A hint at the verb of the fewest edits. */
function nearest(word) {
  const [[edits, verb]] = Object.keys(verbs)
    .map((each) => [distance(word, each), each])
    .sort(([a], [b]) => a - b);
  return edits < verb.length / 2 ? `did you mean ${verb}? ` : '';
}

/** Error: an option, of which the verbs of this file have none. */
async function runOwn(verb, words) {
  const option = words.find((word) => word.startsWith('-'));
  if (isHelp(option)) printHelp(verb);
  else if (option !== undefined) throw new UsageError(`${verb}: there is no option ${option}`);
  else await { inspect, serve, create }[verb](...words);
}

const [verb, ...words] = process.argv.slice(2);
try {
  if (verb === undefined || verb === 'help' || isHelp(verb)) console.log(usage);
  else if (/^(--version|-v|version)$/.test(verb)) console.log(own.version);
  else if (!Object.hasOwn(verbs, verb)) {
    throw new UsageError(
      `unknown verb "${verb}"; ${nearest(verb)}\`npx tensorlathe --help\` lists them`,
    );
  } else if (ownVerbs.includes(verb)) await runOwn(verb, words);
  else runLathe([verb, ...words]);
} catch (error) {
  if (!(error instanceof UsageError) && !/^(Lathe|OutOfMemory)Error$/.test(error.name)) throw error;
  console.error(`tensorlathe: ${error.message}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
