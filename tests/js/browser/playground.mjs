// The playground end to end in any browser: train, edit as layers and as code, CSV, save and load, compare, keyboard, phone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Driver } from './page_driver.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Builds the page with Vite into build/playground. Error: the build fails. */
export function buildPlayground() {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [`${root}node_modules/vite/bin/vite.js`, 'build', `${root}apps/playground`],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`vite build failed: ${stdout}${stderr}`);
}

const matrix = `[...document.querySelectorAll('.matrix tbody tr')].map((row) => [...row.querySelectorAll('td:not(.recall)')].map((cell) => Number(cell.textContent)))`;
const problemOfLayer = (at) =>
  `(document.querySelector('#layers > li:nth-child(${at + 1}) .problem:not([hidden])')?.textContent ?? '')`;
const namesOfLayers = `[...document.querySelectorAll('#layers .layer-name')].map((each) => each.textContent.trim()).join()`;
const sum = (values) => values.reduce((total, value) => total + value, 0);

async function checkTraining(driver) {
  assert.match(await driver.text('data-text'), /^3,000 examples to train on and 600 to validate/);
  await driver.set('#epochs', '50');
  await driver.click('#start');
  await driver.untilText('status', '/^Epoch [2-9]/');
  await driver.click('#pause');
  await driver.untilText('status', '/^Paused$/');
  await driver.until('document.querySelector("#pause").textContent === "Go on"');
  const loss = await driver.text('loss-value');
  await new Promise((done) => setTimeout(done, 300));
  assert.equal(await driver.text('loss-value'), loss, 'nothing is trained while it is paused');
  await driver.click('#pause');
  await driver.untilText('status', '/^Epoch ([5-9]|[1-9][0-9])/');
  await driver.click('#stop');
  await driver.untilText('status', '/^Stopped$/');
  await driver.train(3);
  const accuracy = parseFloat(await driver.text('score'));
  assert.ok(accuracy > 80, String(accuracy));
  const counts = await driver.run(matrix);
  assert.deepEqual([counts.length, sum(counts.flat())], [10, 600]);
  const right = sum(counts.map((row, at) => row[at]));
  assert.ok(Math.abs(right / 6 - accuracy) < 0.01, `${right} right, ${accuracy} %`);
  assert.equal(await driver.run(`document.querySelectorAll('#grid li').length`), 40);
  assert.equal(await driver.run(`document.querySelectorAll('#weight-images canvas').length`), 40);
  for (const id of ['loss-value', 'speed', 'batch-time', 'module-size', 'compile-time']) {
    assert.match(await driver.text(id), /\d/, id);
  }
  const lines = await driver.run(`document.querySelectorAll('#curves canvas').length`);
  assert.equal(lines, 2);
  return `${accuracy} %, ${await driver.text('speed')} examples/s`;
}

/** Draws a seven with the arrow keys. */
async function checkDrawing(driver) {
  const { keyboard } = driver.page;
  await driver.run(`document.getElementById('pad').focus()`);
  const press = async (key, times) => {
    for (let time = 0; time < times; ++time) await keyboard.press(key);
  };
  await press('ArrowLeft', 6);
  await keyboard.down('Shift');
  await press('ArrowRight', 12);
  for (let step = 0; step < 7; ++step) {
    await press('ArrowDown', 2);
    await press('ArrowLeft', 1);
  }
  await keyboard.up('Shift');
  await driver.untilText('guess', '/^7, I think/');
  const guess = await driver.text('guess');
  await driver.click('#clear');
  return guess;
}

async function checkLayers(driver) {
  assert.equal(await driver.run(namesOfLayers), 'Input,Flatten,Dense,Dense');
  await driver.set('#new-layer', 'Dropout');
  await driver.click('#add-layer');
  assert.equal(await driver.run(namesOfLayers), 'Input,Flatten,Dense,Dropout,Dense');
  await driver.click('#layers > li:nth-child(4) [data-action=up]');
  assert.equal(await driver.run(namesOfLayers), 'Input,Flatten,Dropout,Dense,Dense');
  assert.equal(await driver.run('document.activeElement.dataset.action'), 'up');
  await driver.click('#layers > li:nth-child(3) [data-action=remove]');
  assert.equal(await driver.run(namesOfLayers), 'Input,Flatten,Dense,Dense');

  const units = '#layers > li:nth-child(3) [data-option=units]';
  await driver.set(units, '-3');
  assert.match(await driver.run(problemOfLayer(2)), /must be a positive integer, got -3/);
  assert.equal(await driver.run(`document.querySelector('${units}').ariaInvalid`), 'true');
  assert.equal(await driver.run(`document.getElementById('start').disabled`), true);
  assert.match(await driver.text('score'), /%/, 'what was trained is still there');
  await driver.click('#undo');
  assert.equal(await driver.run(problemOfLayer(2)), '');
  await driver.set('#layers > li:nth-child(4) [data-option=units]', '7');
  assert.match(await driver.run(problemOfLayer(3)), /gives \[7\].* must give \[10\]/);
  await driver.click('#undo');
  await driver.set('#layers > li:nth-child(4) [data-option=activation]', 'relu');
  await driver.click('#start');
  await driver.until(`!document.getElementById('loss-problem').hidden`);
  assert.match(await driver.text('loss-problem'), /needs a model that ends with softmax/);
  await driver.click('#undo');

  await driver.set('#preset', '3');
  assert.equal(
    await driver.run(namesOfLayers),
    'Input,Conv2D,MaxPooling2D,Conv2D,MaxPooling2D,Flatten,Dense',
  );
  await driver.set('#layers > li:nth-child(2) [data-option=kernelSize]', '3, 5');
  await driver.set('#layers > li:nth-child(2) [data-option=padding]', 'same');
  await driver.set('#layers > li:nth-child(2) [data-option=activation]', 'leakyRelu');
  await driver.set('#layers > li:nth-child(2) .parameters input', '0.2');
  const code = await driver.run(`document.getElementById('code').value`);
  assert.match(code, /kernelSize: \[3, 5\].*padding: 'same'/);
  assert.match(code, /activation: \{ name: 'leakyRelu', alpha: 0.2 \}/);
  await driver.train(1);
  const filters = await driver.run(`document.querySelectorAll('#weight-images canvas').length`);
  assert.equal(filters, 8);
  await driver.click('#measure');
  await driver.until(`document.querySelectorAll('.times tr').length === 6`);
  assert.match(await driver.text('time-text'), /Forward, 32 examples, one thread: [\d.]+ ms/);
}

async function checkCode(driver) {
  const before = await driver.run(namesOfLayers);
  await driver.click('#code-tab');
  await driver.set('#code', 'window.hasRun = true; return 3;');
  assert.equal(await driver.run('window.hasRun'), undefined, 'code runs only when it is to');
  assert.match(await driver.text('code-state'), /not used yet/);
  await driver.click('#run-code');
  assert.match(await driver.text('code-problem'), /must end with return and the model/);
  await driver.set('#code', 'return tl.sequential({ layers: [ });');
  await driver.click('#run-code');
  assert.match(await driver.text('code-problem'), /does not parse/);
  assert.equal(await driver.run(namesOfLayers), before, 'what fails changes nothing');

  const row = `// two layers\nconst units = 24;\nreturn tl.sequential({ layers: [
    tl.layers.flatten({ inputShape: data.shape }),
    tl.layers.dense({ units, activation: 'relu' }),
    tl.layers.dense({ units: data.classes.length, activation: 'softmax' })] });`;
  await driver.set('#code', row);
  await driver.click('#run-code');
  assert.equal(await driver.problems(), '');
  assert.equal(await driver.run(namesOfLayers), 'Input,Flatten,Dense,Dense');
  assert.equal(await driver.run(`document.getElementById('code').value`), row);
  await driver.click('#layers-tab');
  await driver.set('#layers > li:nth-child(3) [data-option=units]', '25');
  assert.match(await driver.run(`document.getElementById('code').value`), /units: 25/);

  await driver.click('#code-tab');
  const graph = `const x = tl.input({ shape: data.shape });
    const flat = tl.layers.flatten().apply(x);
    const arms = ['relu', 'tanh'].map((activation) =>
      tl.layers.dense({ units: 16, activation }).apply(flat));
    const both = tl.layers.concatenate().apply(arms);
    const y = tl.layers.dense({ units: 10, activation: 'softmax' }).apply(both);
    return tl.model({ inputs: x, outputs: y });`;
  await driver.set('#code', graph);
  await driver.click('#run-code');
  assert.match(await driver.text('code-state'), /a graph of layers/);
  await driver.train(1);
  assert.equal(sum((await driver.run(matrix)).flat()), 600);
  await driver.click('#layers-tab');
  await driver.click('#undo');
  assert.equal(await driver.run(namesOfLayers), 'Input,Flatten,Dense,Dense');
}

async function checkSaving(driver) {
  await driver.set('#preset', '0');
  await driver.train(2);
  const before = await driver.run(matrix);
  await driver.set('#model-name', 'round trip');
  await driver.click('#save');
  await driver.untilText('saving-text', '/Saved as “round trip”/');
  await driver.catchDownloads();
  await driver.click('#download-model');
  await driver.untilText('saving-text', '/Downloaded round trip.json/');
  await driver.click('#download');
  await driver.click('#download-text');
  await driver.untilText('saving-text', '/Downloaded model.wat/');
  const names = await driver.run(
    `Promise.all(downloads).then((files) => files.map(({ name }) => name).join())`,
  );
  assert.equal(names, 'round trip.json,round trip.weights.bin,model.wasm,model.wat');
  await driver.run(`Promise.all(downloads).then(async (files) => {
    const { instance } = await WebAssembly.instantiate(await files[2].arrayBuffer());
    instance.exports.predict_1();
    if (!(await files[3].text()).includes('(export "train"')) throw new Error('no text');
  })`);

  await driver.click('#reset');
  assert.equal(await driver.run(`${matrix}.length`), 0);
  await driver.click('#saved button[aria-label="Load round trip"]');
  await driver.untilText('saving-text', '/Loaded “round trip”/');
  assert.deepEqual(await driver.run(matrix), before, 'the loaded model is the saved one');
  await driver.train(1);

  await driver.click('#reset');
  await driver.run(`Promise.all(downloads).then((files) => {
    const transfer = new DataTransfer();
    for (const file of files.slice(0, 2)) transfer.items.add(file);
    const input = document.getElementById('model-files');
    input.files = transfer.files;
    input.dispatchEvent(new Event('change'));
  })`);
  await driver.untilText('saving-text', '/Loaded round trip.json/');
  assert.deepEqual(await driver.run(matrix), before);
  await driver.give('model-files', { 'model.json': '{"modelTopology": 3}' });
  await driver.until(`!document.getElementById('saving-problem').hidden`);
  assert.match(await driver.text('saving-problem'), /^Not loaded: /);
  assert.deepEqual(await driver.run(matrix), before, 'a failed load changes nothing');

  await driver.click('#saved button[aria-label="Remove round trip"]');
  await driver.until(`document.querySelectorAll('#saved li').length === 0`);
  await driver.click('#view');
  await driver.until(`document.getElementById('text-dialog').open`);
  assert.match(await driver.text('text'), /^\(module/);
  await driver.page.keyboard.press('Escape');
  await driver.until(`!document.getElementById('text-dialog').open`);
}

async function checkComparison(driver) {
  await driver.set('#backend', 'cpu');
  await driver.set('#compare-steps', '4');
  await driver.click('#run-compare');
  await driver.untilText('compare-text', '/^4 steps of 64 examples/');
  const difference = /differ by at most ([\d.e-]+) %/.exec(await driver.text('compare-text'));
  assert.ok(Number(difference[1]) < 0.01, difference[0]);
  assert.equal(await driver.run(`document.querySelectorAll('.comparison tbody tr').length`), 2);
  assert.match(await driver.text('compare-result'), /TensorFlow.js 4.22.0, cpu/);
  return `losses ${difference[0]}`;
}

/** Two clouds of points; their distance is a third column. */
function csv() {
  const lines = ['width,colour,distance,kind'];
  for (let row = 0; row < 240; ++row) {
    const kind = row % 2 === 0 ? 'apple' : 'pear';
    const width = (kind === 'apple' ? 8 : 4) + Math.sin(row * 12.9);
    lines.push(
      `${width.toFixed(3)},${row % 3 === 0 ? 'red' : 'green'},${(2 * width + 1).toFixed(3)},${kind}`,
    );
  }
  return `${lines.join('\n')}\n,red,1,apple\n`;
}

async function checkTables(driver) {
  await driver.give('csv-file', { 'broken.csv': 'a,b\n1,2\n3\n' });
  await driver.until(`!document.getElementById('data-problem').hidden`);
  assert.match(await driver.text('data-problem'), /line 3 has 1 fields, but there are 2 columns/);
  assert.match(await driver.text('data-text'), /digits drawn/, 'the data of before stay');

  await driver.drop({ 'fruit.csv': csv() });
  await driver.untilText('data-text', '/192 examples .* 48 .* 2 classes: fruit.csv/');
  assert.match(await driver.text('table-preview'), /240 rows; 1 with an empty cell left out/);
  assert.equal(await driver.run(namesOfLayers), 'Input,Dense,Dense');
  await driver.set('#batch-size', '16');
  await driver.train(10);
  assert.equal(await driver.text('score'), '100.00 %');
  assert.equal((await driver.run(matrix)).length, 2);

  await driver.set('#target', 'distance');
  await driver.untilText('data-text', '/values: fruit.csv/');
  assert.equal(await driver.run(`document.getElementById('loss').value`), 'meanSquaredError');
  await driver.set('#learning-rate', '0.02');
  await driver.train(20);
  assert.ok(Number(await driver.text('score')) < 5, await driver.text('score'));
  assert.equal(await driver.run(`document.querySelectorAll('.scatter circle').length`), 48);
  await driver.drop({ 'notes.pdf': 'no' });
  assert.match(await driver.text('data-problem'), /notes.pdf: neither a .csv file/);
  await driver.give('idx-files', {
    'train-images': 'no',
    'train-labels': 'no',
    't10k-images': 'no',
    't10k-labels': 'no',
  });
  await driver.untilText('data-problem', '/train-images: no idx file/');
  await driver.click('#drawn');
  await driver.untilText('data-text', '/digits drawn/');
}

/** Walks with Tab: everything in use has a name, shows its focus, and lets it go. */
async function checkKeyboard(driver) {
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

async function checkPhone(driver, resize) {
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

async function checkFeatures(driver) {
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

/** All of it. `resize` sets the size of the window; `engine` names the screenshots. */
export async function checkPlayground(report, page, url, { engine, resize }) {
  const driver = new Driver(page, engine);
  const check = (name, action) => report.check(`playground: ${name}`, action);
  await check('opens with drawn digits', () =>
    driver.open(`${url}/playground/index.html?digits=3000`),
  );
  await check('trains, pauses, goes on, stops', () => checkTraining(driver));
  await check('recognises a seven drawn by keyboard', () => checkDrawing(driver));
  await check('edits the network as layers', () => checkLayers(driver));
  await check('edits the network as code', () => checkCode(driver));
  await check('saves, loads, downloads, uploads', () => checkSaving(driver));
  await check('compares with TensorFlow.js', () => checkComparison(driver));
  await check('takes CSV files', () => checkTables(driver));
  await check('works by keyboard', () => checkKeyboard(driver));
  await check('fits a phone', () => checkPhone(driver, resize));
  await check('says what the browser supports', () => checkFeatures(driver));
}
