// The playground end to end: build it, train in it, stop, resume, draw, download, read as text, break it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const screenshots = `${root}build/screenshots`;

/** Builds the page with Vite into build/playground. Error: the build fails. */
export function buildPlayground() {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [`${root}node_modules/vite/bin/vite.js`, 'build', `${root}apps/playground`],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`vite build failed: ${stdout}${stderr}`);
}

const text = (page, id) => page.evaluate(`document.getElementById('${id}').textContent`);
const click = (page, id) => page.evaluate(`document.getElementById('${id}').click()`);
const until = (page, condition) => page.waitForFunction(condition, undefined, { timeout: 120000 });
const statusIs = (page, pattern) =>
  until(page, `${pattern}.test(document.getElementById('status').textContent)`);

/** Saves what the page shows as build/screenshots/NAME.png. */
async function shoot(page, name) {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });
}

async function stroke(page, points) {
  const box = await page.locator('#pad').boundingBox();
  const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
  await page.mouse.move(...at(points[0]));
  await page.mouse.down();
  for (const point of points.slice(1)) await page.mouse.move(...at(point), { steps: 8 });
  await page.mouse.up();
}

/** All of it, in a Playwright page. */
export async function checkPlayground(report, page, url) {
  await report.check('playground: draws its digits', async () => {
    await page.goto(`${url}/playground/index.html`);
    await statusIs(page, '/^Ready$/');
    assert.match(await text(page, 'data-text'), /10,000 training and 2,000 test digits/);
    assert.equal(await page.locator('#grid li').count(), 48);
  });
  await report.check('playground: stops and resumes', async () => {
    await click(page, 'start');
    await statusIs(page, '/^Epoch [2-9]/');
    await click(page, 'start');
    await statusIs(page, '/^Stopped$/');
    const accuracy = parseFloat(await text(page, 'accuracy'));
    await click(page, 'start');
    await statusIs(page, '/^Trained 10 epochs$/');
    assert.ok(parseFloat(await text(page, 'accuracy')) > accuracy);
  });
  await report.check('playground: passes 92 % on test digits', async () => {
    const accuracy = parseFloat(await text(page, 'accuracy'));
    assert.ok(accuracy > 92, String(accuracy));
    assert.match(await text(page, 'digits-hint'), /^4\d of these 48 are right/);
    for (const id of ['loss', 'speed', 'batch-time', 'module-size', 'compile-time']) {
      assert.match(await text(page, id), /\d/, id);
    }
    return `${accuracy} %, ${await text(page, 'speed')} images/s, batch ${await text(page, 'batch-time')}`;
  });
  await report.check('playground: recognises a drawn seven', async () => {
    await page.locator('#pad').scrollIntoViewIfNeeded();
    await stroke(page, [
      [0.25, 0.2],
      [0.75, 0.2],
      [0.42, 0.85],
    ]);
    await until(page, "/I think/.test(document.getElementById('guess').textContent)");
    const guess = await text(page, 'guess');
    assert.match(guess, /^7, I think/);
    await shoot(page, 'playground-desktop');
    return guess;
  });
  await report.check('playground: downloads a module that predicts', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), click(page, 'download')]);
    assert.equal(download.suggestedFilename(), 'digits.wasm');
    const chunks = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    const { instance } = await WebAssembly.instantiate(Buffer.concat(chunks));
    instance.exports.predict_1();
  });
  await report.check('playground: shows the module as text', async () => {
    await click(page, 'view');
    await until(page, "document.getElementById('text-dialog').open");
    assert.match(await text(page, 'text'), /^\(module[\s\S]*\(export "train"/);
    await shoot(page, 'playground-text');
    await click(page, 'text-close');
  });
  await report.check('playground: refuses files that are not idx, and goes on', async () => {
    const names = ['train-images', 'train-labels', 't10k-images', 't10k-labels'];
    const files = names.map((name) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from('no'),
    }));
    await page.locator('#files').setInputFiles(files);
    await until(page, "!document.getElementById('error').hidden");
    assert.match(await text(page, 'error-text'), /train-images: no idx file/);
    await click(page, 'error-close');
    await click(page, 'reset');
    assert.equal(await text(page, 'status'), 'Ready');
  });
  await report.check('playground: fits a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await click(page, 'start');
    await statusIs(page, '/^Epoch 3/');
    await click(page, 'start');
    await statusIs(page, '/^Stopped$/');
    const width = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok(width <= 390, `the page is ${width} pixels wide`);
    await shoot(page, 'playground-phone');
  });
}
