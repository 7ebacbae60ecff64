// The playground by keyboard, on a phone, and what it reports about the browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkInspector } from './page_inspect.mjs';
import { checkTour } from './page_picture.mjs';

const axe = fileURLToPath(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url));

/** axe-core in light and dark, with everything that opens open; takes screenshots. */
export async function checkAxe(driver, address) {
  const source = readFileSync(axe, 'utf8');
  let checked = 0;
  for (const scheme of ['light', 'dark']) {
    await driver.useScheme(scheme);
    await driver.page.goto(`${address}&train=no`);
    await driver.untilText('status', '/^Ready$/');
    await driver.run(`${source}; 0`);
    checked += await driver.runAxe(`${scheme}, untrained`);
    await driver.train(1);
    await checkTour(driver, true);
    await checkInspector(driver, true);
    await driver.click('#measure');
    await driver.until(`!document.getElementById('inside').hidden`);
    await driver.set('#backend', 'cpu');
    await driver.set('#compare-steps', '2');
    await driver.click('#run-compare');
    await driver.untilText('compare-text', '/^2 steps/');
    await driver.set('#learning-rate', '-1');
    await driver.run(`for (const each of document.querySelectorAll('details')) each.open = true`);
    checked += await driver.runAxe(`${scheme}, with everything open`);
    await driver.click('#code-tab');
    await driver.until(`document.querySelector('.cm-content') !== null`);
    checked += await driver.runAxe(`${scheme}, as code`);
    await driver.click('#layers-tab');
    await driver.run(`for (const each of document.querySelectorAll('details')) each.open = false`);
    await driver.set('#learning-rate', '0.001');
    await driver.shoot(`playground-${scheme}`);
    await driver.resize(390, 844);
    checked += await driver.runAxe(`${scheme}, on a phone`);
    await driver.shoot(`playground-${scheme}-phone`);
    await driver.resize(1280, 900);
    await driver.run('localStorage.clear()');
  }
  await driver.useScheme('light');
  return `${checked} rules, no finding`;
}

/** Walks with Tab: everything in use has a name, shows its focus, and traps no focus. */
export async function checkKeyboard(driver) {
  const { keyboard } = driver.page;
  await driver.run(`document.querySelector('.skip').focus()`);
  const seen = [];
  for (let step = 0; step < 90; ++step) {
    if (step > 0) await keyboard.press('Tab');
    const at = await driver.run(`(() => {
      const each = document.activeElement;
      if (each === document.body || each === null) return undefined;
      const target = each.type === 'file' ? document.querySelector('label[for=' + each.id + ']') : each;
      const named = each.ariaLabel || each.labels?.[0]?.textContent || each.textContent || each.getAttribute('aria-labelledby');
      const rect = target.getBoundingClientRect();
      return { id: each.id || each.textContent.trim() || each.tagName, isNamed: Boolean(named?.trim()),
        outline: getComputedStyle(target).outlineStyle, isVisible: rect.width > 0 && rect.right > 0 };
    })()`);
    if (!at) break;
    seen.push(at);
    if (at.id === 'model-files') break; // Firefox continues to its browser UI, and does not return
  }
  const ids = seen.map(({ id }) => id);
  assert.ok(ids.indexOf('start') < 5, `Train is not among the first five: ${ids}`);
  const order = ['start', 'pad', 'drawn', 'idx-files', 'csv-file', 'layers-tab', 'preset'];
  const settings = ['loss', 'optimizer', 'learning-rate', 'batch-size', 'epochs'];
  const tools = ['measure', 'run-compare', 'model-files'];
  const tabOrder = [...order, 'new-layer', 'add-layer', ...settings, ...tools].map((id) =>
    ids.indexOf(id),
  );
  assert.ok(!tabOrder.includes(-1), `not reached by Tab: ${ids}`);
  assert.deepEqual(
    tabOrder,
    [...tabOrder].sort((a, b) => a - b),
    `the order is another: ${ids}`,
  );
  for (const { id, isNamed, outline, isVisible } of seen) {
    assert.ok(
      isNamed && isVisible && outline !== 'none',
      `${id}: name, position or focus is missing`,
    );
  }
  await driver.run(`document.getElementById('layers-tab').focus()`);
  await keyboard.press('ArrowRight');
  assert.equal(await driver.run('document.activeElement.id'), 'code-tab');
  await keyboard.press('Tab');
  assert.equal(await driver.run('document.activeElement.id'), 'code-content');
  await keyboard.press('Tab');
  assert.equal(await driver.run('document.activeElement.id'), 'run-code', 'the editor is no trap');
  await driver.run(`document.getElementById('code-tab').focus()`);
  await keyboard.press('ArrowLeft');
  await driver.run(`document.querySelector('#layers > li:nth-child(3) summary').focus()`);
  await keyboard.press('Enter');
  await driver.until(`document.querySelector('#layers > li:nth-child(3) details').open`);
  await keyboard.press('Tab');
  assert.equal(await driver.run('document.activeElement.dataset.option'), 'units');
  await keyboard.press('ArrowUp');
  await keyboard.press('Tab');
  assert.equal(await driver.run('document.activeElement.dataset.option'), 'activation');
  assert.match(await driver.run(`document.getElementById('code').value`), /units: 129/);
  const focused = () => driver.run('document.activeElement.id');
  await driver.set('#epochs', '500');
  await driver.run(`document.getElementById('start').focus()`);
  await keyboard.press('Enter');
  await driver.untilText('status', '/^Epoch/');
  assert.equal(await focused(), 'pause');
  await keyboard.press('Tab');
  assert.equal(await focused(), 'stop');
  await keyboard.press('Enter');
  await driver.untilText('status', '/^Stopped$/');
  assert.equal(await focused(), 'start');
  return `${seen.length} stops`;
}

export async function checkPhone(driver) {
  await driver.resize(390, 844);
  const width = () => driver.run('document.documentElement.scrollWidth');
  await driver.train(1);
  assert.ok((await width()) <= 390, `the page is ${await width()} pixels wide`);
  await driver.shoot('playground-phone');
  await driver.resize(320, 700);
  // Plots follow the size of the page in the next frame.
  await driver.run('new Promise((done) => setTimeout(done, 300))');
  const wide = await driver.run(`[...document.querySelectorAll('body *')]
    .filter((each) => each.getBoundingClientRect().right > 320 && !each.closest('.scroll, .skip, .spoken'))
    .map((each) => each.id || each.className || each.tagName).join()`);
  assert.ok((await width()) <= 320, `enlarged four times too wide: ${wide}`);
  await driver.resize(390, 844);
  await driver.click('#code-tab');
  assert.ok((await width()) <= 390, `as code the page is ${await width()} pixels wide`);
  const small =
    await driver.run(`[...document.querySelectorAll('button, select, input:not(.hidden-file)')]
    .filter((each) => each.offsetParent !== null && each.type !== 'checkbox' && each.getBoundingClientRect().height < 30)
    .map((each) => each.id || each.textContent).join()`);
  assert.equal(small, '', 'too small for a finger');
  await driver.resize(1280, 900);
  await driver.shoot('playground');
}

/** Whether each feature is supported, with the reason. */
async function features(driver) {
  const rows = await driver.run(
    `[...document.querySelectorAll('#features tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
  );
  return Object.fromEntries(rows.map(([name, value, why]) => [name, { value, why }]));
}

/** `plain` is the address of the page without cross-origin isolation. */
export async function checkFeatures(driver, plain) {
  const isolated = await features(driver);
  const names = 'WebAssembly SIMD,Relaxed SIMD,Cross-origin isolation,Threads,WebGPU';
  assert.equal(Object.keys(isolated).join(), names);
  for (const name of ['WebAssembly SIMD', 'Cross-origin isolation', 'Threads']) {
    assert.equal(isolated[name].value, 'yes', name);
  }
  for (const { why } of Object.values(isolated)) assert.ok(why.length > 10, why);
  await driver.open(plain);
  const { Threads, 'Cross-origin isolation': isolation } = await features(driver);
  assert.deepEqual([Threads.value, isolation.value], ['no', 'no']);
  for (const { why } of [Threads, isolation]) assert.match(why, /Cross-Origin-Opener-Policy/);
  await driver.train(1);
  assert.equal(await driver.text('threads'), '1');
}
