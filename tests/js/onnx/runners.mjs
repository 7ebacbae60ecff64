// Where the ONNX backend cases run, one after the other: a thread of Node, or a page, which are terminated and replaced if a case
// hangs, or a GPU.
import { Worker } from 'node:worker_threads';
import { chromium } from 'playwright-core';
import { serve } from '../browser/server.mjs';
import { filesOf } from './cases.mjs';
import { whyFails } from './check_case.mjs';

const seconds = 60;
const tooLate = `no result after ${seconds} s`;

export class ThreadRunner {
  #worker;
  #start;
  /** Where the model of the last case ran, if that is known. */
  placement;

  /** The module that runs models: tensorlathe, with these options, or one with the API of ONNX Runtime Web. */
  constructor(engine, options = {}) {
    this.#start = { engine, options };
  }

  /** Why a case fails, or undefined. */
  async why(each) {
    const workerUrl = new URL('conformance_worker.mjs', import.meta.url);
    this.#worker ??= new Worker(workerUrl, { workerData: this.#start });
    const worker = this.#worker;
    return new Promise((resolve) => {
      const end = (why) => {
        clearTimeout(timer);
        worker.off('message', received).off('error', broken);
        resolve(why);
      };
      const abandon = (why) => {
        this.#worker = undefined;
        end(why);
        worker.on('error', () => {}).terminate();
      };
      const received = ({ why, placement }) => {
        this.placement = placement;
        end(why);
      };
      const broken = (error) => abandon(`the thread ended: ${error.message}`);
      const timer = setTimeout(() => abandon(tooLate), seconds * 1000);
      worker.on('message', received).on('error', broken);
      worker.postMessage(each);
    });
  }

  end() {
    return this.#worker?.terminate();
  }
}

/** As shaders, on the GPU of this process. */
export class ShaderRunner {
  #load;

  async why(each) {
    const { webgpu } = await import('./shader_engine.mjs');
    this.#load ??= await webgpu();
    return whyFails(this.#load, each, filesOf(each)).catch((error) => error.message);
  }

  end() {}
}

const base64 = (bytes) => Buffer.from(bytes).toString('base64');

/** Runs in the page. */
async function inPage([each, { bytes, sets }]) {
  const [tl, engines, { whyFails }] = await Promise.all(
    ['/js/dist/index.js', '/tests/js/onnx/engines.mjs', '/tests/js/onnx/check_case.mjs'].map(
      (module) => import(module),
    ),
  );
  const decode = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const files = {
    bytes: decode(bytes),
    sets: sets.map((set) => ({ inputs: set.inputs.map(decode), outputs: set.outputs.map(decode) })),
  };
  const failure = (error) => error.message || String(error);
  const why = await whyFails(engines.lathe(tl), each, files).catch(failure);
  return why ?? null;
}

export class PageRunner {
  #browser;
  #server;
  #page;

  async why(each) {
    this.#server ??= await serve(true);
    this.#browser ??= await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    });
    if (this.#page === undefined) {
      this.#page = await this.#browser.newPage();
      await this.#page.goto(`${this.#server.url}/tests/js/browser/page.html`);
    }
    const { bytes, sets } = filesOf(each);
    const files = {
      bytes: base64(bytes),
      sets: sets.map(({ inputs, outputs }) => ({
        inputs: inputs.map(base64),
        outputs: outputs.map(base64),
      })),
    };
    const page = this.#page;
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(() => resolve(tooLate), seconds * 1000);
    });
    const ended = (error) => `the page ended: ${error.message}`;
    const why = await Promise.race([page.evaluate(inPage, [each, files]).catch(ended), late]);
    clearTimeout(timer);
    if (why === tooLate || why?.startsWith('the page ended')) {
      this.#page = undefined;
      await page.close().catch(() => {});
    }
    return why ?? undefined;
  }

  async end() {
    await this.#browser?.close();
    this.#server?.stop();
  }
}
