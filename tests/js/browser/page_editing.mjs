// The playground's network as layers and as code, its data from files, its models saved and loaded.
import assert from 'node:assert/strict';
import { matrix, namesOfLayers, sum } from './page_driver.mjs';

const problemOfLayer = (at) =>
  `(document.querySelector('#layers > li:nth-child(${at + 1}) .problem:not([hidden])')?.textContent ?? '')`;

/** Graph, loops and WebAssembly of the selected layer. */
async function checkInside(driver) {
  const form = (name) => driver.text(`inside-${name}`);
  const choose = (layer) => driver.click(`.times [data-layer=${layer}] button`);
  await choose('dense_Dense1');
  assert.match(
    await driver.text('inside-title'),
    /^dense_Dense1, forward: [\d.]+ m?s, \d+ % of a step$/,
  );
  await choose('conv2d_Conv2D1');
  assert.match(await form('graph'), /contract .* over \[64,/);
  assert.match(await form('loops'), /^train\.k\d+[^]*for \w+ in \d+/);
  assert.match(await form('wasm'), /^ {2}\(func \$train\.k\d+[^]*f32x4\./);
  const lit = `[...document.querySelectorAll('.form .lit')].map(({ dataset }) => dataset.kernel)`;
  const kernels = await driver.run(lit);
  assert.ok(kernels.length >= 2 && new Set(kernels).size === 1, `lit together: ${kernels}`);
  const backgrounds = await driver.run(
    `['loops', 'wasm'].map((name) => [...document.querySelectorAll('#inside-' + name + ' .chunk')].map((each) => getComputedStyle(each).borderLeftColor).join())`,
  );
  assert.equal(backgrounds[0], backgrounds[1], 'a loop nest has one color in all panes');
  assert.equal(new Set(backgrounds[0].split('),')).size, backgrounds[0].split('),').length);
  const forward = await form('wasm');
  await driver.click('#inside-backward');
  assert.match(await driver.text('inside-title'), /^conv2d_Conv2D1, backward/);
  assert.notEqual(await form('wasm'), forward);
}

export async function checkLayers(driver) {
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
  assert.match(await driver.text('status'), /^Cannot train yet\. Dense: units must be a positive/);
  assert.match(await driver.text('score'), /%/, 'what was trained is still there');
  await driver.click('#undo');
  assert.equal(await driver.run(problemOfLayer(2)), '');
  await driver.set('#layers > li:nth-child(4) [data-option=units]', '7');
  assert.match(await driver.run(problemOfLayer(3)), /outputs \[7\].* must output \[10\]/);
  await driver.click('#undo');
  await driver.set('#layers > li:nth-child(4) [data-option=activation]', 'relu');
  await driver.click('#start');
  await driver.until(`!document.getElementById('loss-problem').hidden`);
  assert.match(await driver.text('loss-problem'), /requires a model that ends with softmax/);
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
  assert.match(code, /kernelSize: \[3, 5\],\s+padding: 'same'/);
  assert.match(code, /activation: \{ name: 'leakyRelu', alpha: 0.2 \}/);
  await driver.train(1);
  const filters = await driver.run(`document.querySelectorAll('#weight-images canvas').length`);
  assert.equal(filters, 8);
  await driver.click('#measure');
  await driver.until(`document.querySelectorAll('.times tbody tr').length > 0`);
  const text = await driver.text('time-text');
  assert.match(text, /^A training step of 64 examples: [\d.]+ ms on one thread/);
  const times = await driver.text('times');
  for (const name of ['conv2d_Conv2D1', 'max_pooling2d_MaxPooling2D1', 'dense_Dense1'])
    assert.ok(times.includes(name), name);
  await checkInside(driver);
}

/** Presses the button and waits until the worker has answered. */
async function useCode(driver) {
  await driver.click('#run-code');
  await driver.until(`document.getElementById('code-state').textContent !== 'Running …'`);
}

/** The editor arrives with its tab; it has lines and colors, and marks the line of an error. */
async function checkEditor(driver) {
  const requests = [];
  const listen = (request) => requests.push(request.url());
  driver.page.on('request', listen);
  await driver.click('#code-tab');
  await driver.until(`document.querySelector('.cm-content') !== null`);
  driver.page.off('request', listen);
  assert.ok(
    requests.some((url) => url.includes('code_editor')),
    'the editor is fetched with its tab',
  );
  const shown = () => driver.run(`document.querySelector('.cm-content').innerText`);
  assert.match(await shown(), /return tl\.sequential/);
  assert.ok(
    await driver.run(`document.querySelectorAll('.cm-lineNumbers .cm-gutterElement').length > 5`),
  );
  const colors = `new Set([...document.querySelectorAll('.cm-line span')].map((each) => getComputedStyle(each).color)).size`;
  assert.ok((await driver.run(colors)) >= 3, 'the code has colors');
  await driver.set('#code', 'const a = 1;\nconst b = 2;\nnothing.at(3);\nreturn a;');
  assert.match(await shown(), /nothing\.at/);
  await useCode(driver);
  assert.match(await driver.text('code-problem'), /^Line 3: nothing is not defined/);
  const marked = `[...document.querySelectorAll('.cm-lintRange-error')].map((each) => each.textContent).join()`;
  await driver.until(`${marked} === 'nothing.at(3);'`);
  await driver.run('new Promise((done) => setTimeout(done, 900))');
  assert.equal(await driver.run(marked), 'nothing.at(3);', 'the mark stays');
  await driver.set('#code', 'return tl.sequential({ layers: [ });');
  await driver.until(`document.querySelectorAll('.cm-lint-marker-error').length === 1`);
}

export async function checkCode(driver) {
  const before = await driver.run(namesOfLayers);
  await checkEditor(driver);
  await driver.set('#code', 'self.hasRun = true; return 3;');
  assert.equal(await driver.run('window.hasRun'), undefined, 'code runs only when it is to');
  assert.match(await driver.text('code-state'), /not used yet/);
  await useCode(driver);
  assert.match(await driver.text('code-problem'), /must end with return and the model/);
  await driver.set('#code', 'return tl.sequential({ layers: [ });');
  await useCode(driver);
  assert.match(await driver.text('code-problem'), /does not parse/);
  await driver.set('#code', 'return document.title;');
  await useCode(driver);
  assert.match(await driver.text('code-problem'), /document is not defined/);
  await driver.set('#code', 'for (;;);');
  await useCode(driver);
  assert.match(await driver.text('code-problem'), /ran for 5 s and was stopped/);
  assert.equal(await driver.run(namesOfLayers), before, 'what fails changes nothing');

  const row = `// two layers\nconst units = 24;\nreturn tl.sequential({ layers: [
    tl.layers.flatten({ inputShape: data.shape }),
    tl.layers.dense({ units, activation: 'relu' }),
    tl.layers.dense({ units: data.classes.length, activation: 'softmax' })] });`;
  await driver.set('#code', row);
  await useCode(driver);
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
    const scaled = tl.layers.lambda((x) => x.mul(0.5)).apply(both);
    const y = tl.layers.dense({ units: 10, activation: 'softmax' }).apply(scaled);
    return tl.model({ inputs: x, outputs: y });`;
  await driver.set('#code', graph);
  await useCode(driver);
  assert.match(await driver.text('code-state'), /a graph of layers/);
  await driver.train(1);
  await driver.set(
    '#code',
    graph.replace(/^.*lambda.*$/m, 'const scaled = both; window.hasRun = true;'),
  );
  await useCode(driver);
  assert.match(await driver.text('code-problem'), /window is not defined/);
  await driver.set(
    '#code',
    graph.replace(/^.*lambda.*$/m, 'const scaled = both; self.hasRun = true;'),
  );
  await useCode(driver);
  assert.match(await driver.text('code-state'), /a graph of layers/);
  await driver.train(1);
  assert.equal(await driver.run('window.hasRun'), undefined, 'it ran in the worker only');
  assert.equal(sum((await driver.run(matrix)).flat()), 600);
  await driver.click('#layers-tab');
  await driver.click('#undo');
  await driver.click('#undo');
  assert.equal(await driver.run(namesOfLayers), 'Input,Flatten,Dense,Dense');
}

export async function checkSaving(driver) {
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
  await driver.setFiles('model-files', { 'model.json': '{"modelTopology": 3}' });
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

/** Options of the module: no SIMD, batches in memory, sizes of its entries; and the training module. */
export async function checkModule(driver) {
  const simd = (value) =>
    driver.run(`(() => {
      const box = document.getElementById('simd');
      if (box.checked !== ${value}) box.click();
    })()`);
  const text = async () => {
    await driver.click('#view');
    await driver.until(`document.getElementById('text-dialog').open`);
    const found = await driver.run(
      `['v128', 'train.order'].map((word) => document.getElementById('text').textContent.includes(word))`,
    );
    await driver.click('#text-close');
    return found;
  };
  await simd(true);
  await driver.train(1);
  assert.deepEqual(await text(), [true, false]);
  await simd(false);
  await driver.set('#batches-in-memory', '3');
  await driver.train(1);
  assert.deepEqual(await text(), [false, true]);
  await driver.set('#test-size', '0');
  assert.match(await driver.text('test-size-problem'), /^Test size: it must be an integer/);
  assert.match(await driver.text('status'), /^Cannot train yet\. Test size: /);
  assert.equal(await driver.run(`document.getElementById('start').disabled`), true);
  await driver.set('#test-size', '50');
  await driver.set('#predict-size', '7');
  await driver.catchDownloads();
  await driver.click('#download-training');
  await driver.untilText('saving-text', '/Downloaded training.wasm/');
  const found = await driver.run(`Promise.all(downloads).then(async ([file]) => {
    const module = await WebAssembly.compile(await file.arrayBuffer());
    const [section] = WebAssembly.Module.customSections(module, 'tensorlathe');
    const { entries } = JSON.parse(new TextDecoder().decode(section));
    const { exports } = await WebAssembly.instantiate(module);
    exports.train();
    const sized = entries.filter(({ inputs }) => inputs.some(({ name }) => name === 'x'));
    return sized.map(({ name, inputs }) => [name, inputs.find((each) => each.name === 'x').shape[0]]);
  })`);
  assert.deepEqual(Object.fromEntries(found), {
    train: 192,
    evaluate: 150,
    predict: 7,
    predict_1: 1,
  });
  await simd(true);
  await driver.set('#batches-in-memory', '1');
}

/** The test images of MNIST, also used for training; as gzipped files. */
export async function checkIdx(driver, url) {
  await driver.run(`(async () => {
    const transfer = new DataTransfer();
    for (const set of ['train', 't10k']) {
      for (const kind of ['images-idx3-ubyte', 'labels-idx1-ubyte']) {
        const answer = await fetch('${url}/mnist/t10k-' + kind + '.gz');
        transfer.items.add(new File([await answer.blob()], set + '-' + kind + '.gz'));
      }
    }
    const input = document.getElementById('idx-files');
    input.files = transfer.files;
    input.dispatchEvent(new Event('change'));
  })()`);
  await driver.untilText(
    'data-text',
    '/^10,000 examples .* 10,000 to validate with, from idx files/',
  );
  await driver.train(1);
  const accuracy = parseFloat(await driver.text('score'));
  assert.ok(accuracy > 85, String(accuracy));
  assert.equal(sum((await driver.run(matrix)).flat()), 10000);
  return `${accuracy} % after one epoch`;
}
