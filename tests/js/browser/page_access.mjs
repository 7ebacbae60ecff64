// The playground by keyboard, on a phone, and what it says of the browser.
import assert from 'node:assert/strict';

/** Walks with Tab: everything in use has a name, shows its focus, and lets it go. */
export async function checkKeyboard(driver) {
  const { keyboard } = driver.page;
  await driver.run(`document.activeElement?.blur(); scrollTo(0, 0)`);
  const seen = [];
  for (let step = 0; step < 90; ++step) {
    await keyboard.press('Tab');
    const at = await driver.run(`(() => {
      const each = document.activeElement;
      if (each === document.body || each === null) return undefined;
      const shown = each.type === 'file' ? document.querySelector('label[for=' + each.id + ']') : each;
      const named = each.ariaLabel || each.labels?.[0]?.textContent || each.textContent || each.getAttribute('aria-labelledby');
      const place = shown.getBoundingClientRect();
      return { id: each.id || each.textContent.trim() || each.tagName, isNamed: Boolean(named?.trim()),
        outline: getComputedStyle(shown).outlineStyle, isVisible: place.width > 0 && place.right > 0 };
    })()`);
    if (!at) break;
    seen.push(at);
    if (at.id === 'model-files') break; // Firefox goes on to its own window, and does not come back
  }
  const ids = seen.map(({ id }) => id);
  const wanted = [
    'drawn',
    'idx-files',
    'csv-file',
    'layers-tab',
    'preset',
    'new-layer',
    'add-layer',
  ];
  const order = [...wanted, 'loss', 'optimizer', 'learning-rate', 'batch-size', 'epochs', 'start'];
  const places = [...order, 'pad', 'measure', 'run-compare', 'model-files'].map((id) =>
    ids.indexOf(id),
  );
  assert.ok(!places.includes(-1), `not reached by Tab: ${ids}`);
  assert.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
    `the order is another: ${ids}`,
  );
  for (const { id, isNamed, outline, isVisible } of seen) {
    assert.ok(isNamed && isVisible && outline !== 'none', `${id}: name, place or focus is missing`);
  }
  await driver.run(`document.getElementById('layers-tab').focus()`);
  await keyboard.press('ArrowRight');
  assert.equal(await driver.run('document.activeElement.id'), 'code-tab');
  await keyboard.press('Tab');
  assert.equal(await driver.run('document.activeElement.id'), 'code');
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
  return `${seen.length} stops`;
}

export async function checkPhone(driver, resize) {
  await resize(390, 844);
  const width = () => driver.run('document.documentElement.scrollWidth');
  await driver.train(1);
  assert.ok((await width()) <= 390, `the page is ${await width()} pixels wide`);
  await driver.shoot('playground-phone');
  await driver.click('#code-tab');
  assert.ok((await width()) <= 390, `as code the page is ${await width()} pixels wide`);
  const small =
    await driver.run(`[...document.querySelectorAll('button, select, input:not(.hidden-file)')]
    .filter((each) => each.offsetParent !== null && each.type !== 'checkbox' && each.getBoundingClientRect().height < 30)
    .map((each) => each.id || each.textContent).join()`);
  assert.equal(small, '', 'too small for a finger');
  await resize(1280, 900);
  await driver.shoot('playground');
}

export async function checkFeatures(driver) {
  const rows = await driver.run(
    `[...document.querySelectorAll('#features tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
  );
  const facts = Object.fromEntries(rows.map(([name, value, why]) => [name, { value, why }]));
  const names = 'WebAssembly SIMD,Relaxed SIMD,Cross-origin isolation,Threads,WebGPU';
  assert.equal(Object.keys(facts).join(), names);
  assert.equal(facts['WebAssembly SIMD'].value, 'yes');
  assert.equal(facts['Cross-origin isolation'].value, 'yes');
  for (const { why } of Object.values(facts)) assert.ok(why.length > 10, why);
}
