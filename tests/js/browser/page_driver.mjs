// The playground as a person's hands find it, in a page of Playwright or Puppeteer: one interface for both.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const screenshots = fileURLToPath(new URL('../../../build/screenshots/', import.meta.url));
const patience = 120000;
const quoted = JSON.stringify;

/** In the page: the counts of the confusion matrix, and the names of the layers in the list. */
export const matrix = `[...document.querySelectorAll('.matrix:not(.blank) tbody tr')].map((row) => [...row.querySelectorAll('td:not(.recall)')].map((cell) => Number(cell.textContent)))`;
export const namesOfLayers = `[...document.querySelectorAll('#layers .layer-name')].map((each) => each.textContent.trim()).join()`;
export const sum = (values) => values.reduce((total, value) => total + value, 0);

export class Driver {
  /** `engine` goes into the names of the screenshots. */
  constructor(page, engine) {
    this.page = page;
    this.engine = engine;
  }

  /** Playwright and Puppeteer name it differently. */
  resize(width, height) {
    const { page } = this;
    return page.setViewportSize?.({ width, height }) ?? page.setViewport({ width, height });
  }

  /** Emulates a preferred color scheme. */
  useScheme(scheme) {
    const { page } = this;
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    return page.emulateMedia?.({ colorScheme: scheme }) ?? page.emulateMediaFeatures(features);
  }

  /** Runs axe-core, which is in the page. Resolves with the number of checked rules. Error: it finds violations. */
  async runAxe(what) {
    const { violations, rules } = await this.run(`axe.run().then((found) => ({
      rules: found.passes.length + found.violations.length,
      violations: found.violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => id + ' ' + target + ': ' + failureSummary)),
    }))`);
    assert.deepEqual(violations, [], what);
    return rules;
  }

  run(script) {
    return this.page.evaluate(script);
  }

  /** Waits until the expression is true. */
  async until(condition, what = condition) {
    const end = Date.now() + patience;
    while (!(await this.run(`Boolean(${condition})`))) {
      assert.ok(Date.now() < end, `waited in vain: ${what}; ${await this.problems()}`);
      await new Promise((done) => setTimeout(done, 30));
    }
  }

  text(id) {
    return this.run(`document.getElementById(${quoted(id)}).textContent`);
  }

  untilText(id, pattern) {
    return this.until(
      `${pattern}.test(document.getElementById(${quoted(id)}).textContent)`,
      `${id} as ${pattern}`,
    );
  }

  /** Error messages that the page shows now. */
  problems() {
    return this.run(
      `[...document.querySelectorAll('.problem:not([hidden]), #error:not([hidden])')].map((each) => each.textContent).join(' | ')`,
    );
  }

  /** Presses a button, which must be visible and enabled. */
  async click(selector) {
    await this.run(`(() => {
      const found = document.querySelector(${quoted(selector)});
      if (found === null || found.disabled) throw new Error('nothing to press: ' + ${quoted(selector)});
      found.click();
    })()`);
  }

  /** Writes into a control, or chooses, as a person does. */
  async set(selector, value) {
    await this.run(`(() => {
      const found = document.querySelector(${quoted(selector)});
      if (found === null || found.disabled) throw new Error('nothing to set: ' + ${quoted(selector)});
      found.value = ${quoted(value)};
      found.dispatchEvent(new Event('input', { bubbles: true }));
      found.dispatchEvent(new Event('change', { bubbles: true }));
    })()`);
  }

  /** Sets the files, by name, of an input. */
  async setFiles(id, files) {
    await this.run(`(() => {
      const transfer = new DataTransfer();
      for (const [name, text] of ${quoted(Object.entries(files))}) transfer.items.add(new File([text], name));
      const input = document.getElementById(${quoted(id)});
      input.files = transfer.files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
    })()`);
  }

  /** Drops files, by name, on the page. */
  async drop(files) {
    await this.run(`(() => {
      const dataTransfer = new DataTransfer();
      for (const [name, text] of ${quoted(Object.entries(files))}) dataTransfer.items.add(new File([text], name));
      for (const type of ['dragover', 'drop'])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    })()`);
  }

  /** What the page has downloaded since the last call: names and files in the page. */
  async catchDownloads() {
    await this.run(`(() => {
      window.downloads = [];
      HTMLAnchorElement.prototype.click = function () {
        const { download, href } = this;
        downloads.push(fetch(href).then(async (answer) => new File([await answer.blob()], download)));
      };
    })()`);
  }

  async train(epochs) {
    await this.set('#epochs', String(epochs));
    await this.click('#start');
    await this.untilText('status', '/^(Trained|Not trained)/');
    assert.match(await this.text('status'), /^Trained/, await this.problems());
  }

  async open(url) {
    await this.page.goto(url);
    await this.untilText('status', '/^Ready$/');
  }

  /** Saves the screen as it is. */
  async shootScreen(name) {
    mkdirSync(screenshots, { recursive: true });
    await this.page.screenshot({ path: `${screenshots}${name}-${this.engine}.png` });
  }

  /** Saves what the page shows as build/screenshots/NAME-ENGINE.png. */
  async shoot(name) {
    mkdirSync(screenshots, { recursive: true });
    const path = `${screenshots}${name}-${this.engine}.png`;
    // The full page is in view during the screenshot: what is below the viewport may not be painted yet.
    const [width, height, fullHeight] = await this.run(
      '[innerWidth, innerHeight, document.documentElement.scrollHeight]',
    );
    await this.resize(width, fullHeight);
    const painted = 'new Promise((done) => requestAnimationFrame(() => setTimeout(done, 500)))';
    await this.run(painted);
    await this.page.screenshot({ path });
    await this.resize(width, height);
  }
}
