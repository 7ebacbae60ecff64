#!/usr/bin/env node
// `npx tensorlathe`: looks at models, serves a folder, creates a starter. Other verbs are those of `lathe`, which is in the package
// tensorlathe-linux-x64 or on the PATH.
import { spawnSync } from 'node:child_process';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve, sep } from 'node:path';

const native = 'tensorlathe-linux-x64';
const usage = `usage: npx tensorlathe VERB [ARGUMENTS]

  inspect MODEL           inputs and outputs of an .onnx file; layers of a model.json
  serve [FOLDER] [PORT]   a folder for pages with threads: headers COOP and COEP (default: . and 8080)
  create node|vite NAME   a folder with a program that trains a network
  compile, convert, run … as the command lathe, of the npm package ${native} or on the PATH`;

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

async function inspect(file) {
  if (file === undefined) throw new UsageError('inspect: a model is needed');
  if (/\.wasm$/i.test(file)) return lathe(['inspect', file]);
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

function create(kind, name) {
  const starter = Object.hasOwn(starters, kind ?? '') ? starters[kind] : undefined;
  if (starter === undefined || !name) throw new UsageError('create: node or vite, and a name');
  if (existsSync(name)) throw new UsageError(`create: ${name} exists`);
  const own = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const { scripts, devDependencies } = starter;
  const dependencies = { tensorlathe: `^${own.version}` };
  const manifest = { private: true, type: 'module', scripts, dependencies, devDependencies };
  mkdirSync(name, { recursive: true });
  const files = { ...starter.files, 'package.json': `${JSON.stringify(manifest, null, 2)}\n` };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(name, file), text);
  console.log(
    `cd ${/^[\w./-]+$/.test(name) ? name : JSON.stringify(name)} && npm install && ${starter.start}`,
  );
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

function lathe(words) {
  const { status, error } = spawnSync(findLathe(), words, { stdio: 'inherit' });
  if (error !== undefined) {
    throw new UsageError(
      `${words[0]} needs the command lathe: npm install ${native}, or a build of it on the PATH`,
    );
  }
  process.exitCode = status ?? 1;
}

const [verb, ...words] = process.argv.slice(2);
try {
  if (verb === undefined || /^(help|--help|-h)$/.test(verb)) console.log(usage);
  else if (verb === 'inspect') await inspect(words[0]);
  else if (verb === 'serve') serve(...words);
  else if (verb === 'create') create(...words);
  else if (/^(compile|convert|run|wat|validate|passes|operators|describe|completion)$/.test(verb))
    lathe([verb, ...words]);
  else throw new UsageError(`unknown verb "${verb}"\n${usage}`);
} catch (error) {
  if (!(error instanceof UsageError) && error.name !== 'LatheError') throw error;
  console.error(`tensorlathe: ${error.message}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
