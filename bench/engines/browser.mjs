/** Chromium and Firefox without a window: how each is launched, and peers in their pages, one page for each. */
import { join } from 'node:path';
import { build } from 'esbuild';
import puppeteer from 'puppeteer-core';
import { cpuTimeOfTree } from './cpu_time.mjs';
import { modelsFolder } from '../onnx/folder.mjs';
import { root, serve } from './server.mjs';

const longestCallMs = 600_000;
const launchOptions = {
  chromium: {
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  },
  firefox: {
    browser: 'firefox',
    executablePath: '/usr/bin/firefox-esr',
    extraPrefsFirefox: { 'privacy.reduceTimerPrecision': false },
  },
};

const titles = { chromium: 'Chromium', firefox: 'Firefox' };

export const launch = (name, more) =>
  puppeteer.launch({
    ...launchOptions[name],
    headless: true,
    protocolTimeout: longestCallMs,
    ...more,
  });

/** Headless Chromium: its DevTools protocol, for the browser only. */
export async function launchUnwatched() {
  const targetFilter = (target) => target.type() === 'browser';
  const browser = await launch('chromium', { targetFilter, waitForInitialPage: false });
  return { browser, protocol: await browser.target().createCDPSession() };
}

/** Packages that a page loads from node_modules, as their users do; the rest is bundled. */
const external = {
  tensorlathe: '/js/dist/index.js',
  'tensorlathe/tfjs': '/js/dist/tfjs.js',
  'tensorlathe/tfjs-backend': '/js/dist/tfjs_backend.js',
  '@wllama/wllama': '/node_modules/@wllama/wllama/esm/index.js',
  'onnxruntime-web': '/node_modules/onnxruntime-web/dist/ort.wasm.min.mjs',
};

const page = (threads) => `<!doctype html><title>bench</title><body>
<script>Object.defineProperty(navigator, 'hardwareConcurrency', { value: ${threads} });</script>
<script type="importmap">${JSON.stringify({ imports: external })}</script>
<script type="module">import { run } from '/build/bench/runner.js'; window.runCommand = run;</script>`;

async function openBrowser(name, { threads, against }) {
  await build({
    entryPoints: [join(root, 'bench/runner.mjs')],
    outdir: join(root, 'build/bench'),
    bundle: true,
    splitting: true,
    format: 'esm',
    external: [...Object.keys(external), 'node:*'],
    logLevel: 'error',
  });
  const server = await serve({
    isolated: threads > 1,
    pages: { '/index.html': page(threads) },
    folders: { '/models/': modelsFolder, ...(against && { '/before/': against }) },
  });
  const browser = await launch(name);
  const pid = browser.process().pid;
  return {
    title: `${titles[name]} ${(await browser.version()).split('/')[1]}`,
    before: against && '/before/js/dist/index.js',
    async open() {
      const tab = await browser.newPage();
      await tab.goto(`${server.address}/index.html`);
      await tab.waitForFunction(() => window.runCommand);
      return {
        async call(message) {
          const before = cpuTimeOfTree(pid);
          const reply = await tab
            .evaluate((each) => window.runCommand(each), message)
            .catch((error) => ({ error: String(error) }));
          return { ...reply, cpuMs: cpuTimeOfTree(pid) - before };
        },
        close: () => tab.close().catch(() => {}),
      };
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}

export const openChromium = (options) => openBrowser('chromium', options);
export const openFirefox = (options) => openBrowser('firefox', options);
