/** Runs peers in pages of headless Chromium, one page for each, served with the headers that allow shared memory. */
import { createServer } from 'node:http';
import { createReadStream, statSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../../', import.meta.url));
const types = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
const launchFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const page = `<!doctype html><title>bench</title>
<script type="importmap">{"imports": {"tensorlathe": "/js/dist/index.js"}}</script>
<script type="module">import { run } from '/build/bench/runner.js'; window.runCommand = run;</script>`;

function serve() {
  const server = createServer((request, response) => {
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    const path = normalize(new URL(request.url, 'http://localhost').pathname);
    if (path === '/') return response.setHeader('Content-Type', 'text/html').end(page);
    const file = join(root, path);
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return response.writeHead(404).end();
    response.setHeader('Content-Type', types[extname(file)] ?? 'application/octet-stream');
    createReadStream(file).pipe(response);
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

export async function openChromium() {
  await build({
    entryPoints: [join(root, 'bench/runner.mjs')],
    outdir: join(root, 'build/bench'),
    bundle: true,
    splitting: true,
    format: 'esm',
    external: ['tensorlathe'],
    logLevel: 'error',
  });
  const server = await serve();
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: launchFlags });
  return {
    title: `Chromium ${browser.version()}`,
    open: async () => {
      const tab = await browser.newPage();
      await tab.goto(`http://127.0.0.1:${server.address().port}/`);
      await tab.waitForFunction(() => window.runCommand);
      return {
        call: (message) =>
          tab
            .evaluate((each) => window.runCommand(each), message)
            .catch((error) => ({ error: String(error) })),
        close: () => tab.close(),
      };
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}
