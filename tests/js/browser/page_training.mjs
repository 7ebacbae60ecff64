// The playground trains, recognizes a drawing, survives failures, and trains in comparison with TensorFlow.js.
import assert from 'node:assert/strict';
import { Driver, matrix, sum } from './page_driver.mjs';

export async function checkTraining(driver) {
  assert.match(await driver.text('data-text'), /^3,000 examples to train on and 600 to validate/);
  await driver.set('#epochs', '50');
  await driver.click('#start');
  await driver.untilText('status', '/^Epoch [2-9]/');
  await driver.click('#pause');
  await driver.untilText('status', '/^Paused$/');
  await driver.until('document.querySelector("#pause").textContent === "Resume"');
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
  assert.equal(await driver.text('start'), 'Continue');
  const rate = Number((await driver.text('speed')).replaceAll(',', ''));
  const [ms, unit] = (await driver.text('batch-time')).split(' ');
  assert.equal(unit, 'ms');
  const batches = rate / (1000 / Number(ms));
  assert.ok(batches > 54 && batches < 66, `${rate} examples/s, ${ms} ms per batch of 64`);
  const lines = await driver.run(`document.querySelectorAll('#curves canvas').length`);
  assert.equal(lines, 2);
  return `${accuracy} %, ${await driver.text('speed')} examples/s`;
}

/** Draws a seven with the arrow keys. */
export async function checkDrawing(driver) {
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
  await driver.untilText('guess', '/^Draw, and it guesses$/');
  await keyboard.down('Shift');
  await press('ArrowLeft', 12);
  await keyboard.up('Shift');
  await driver.untilText('guess', '/^Not sure: unlike all images/');
  await driver.click('#clear');
  return `${guess}; of a dash it is not sure`;
}

/** A NaN loss ends the training with the reason; a reload restores the network. */
export async function checkMishaps(driver, url) {
  await driver.set('#loss', 'meanSquaredError');
  await driver.set('#optimizer', 'sgd');
  await driver.set('#layers > li:nth-child(4) [data-option=activation]', 'linear');
  await driver.set('#learning-rate', '1e30');
  await driver.click('#start');
  await driver.until(`!document.getElementById('training-problem').hidden`);
  assert.match(await driver.text('training-problem'), /no number any more.* smaller learning rate/);
  assert.match(await driver.text('story'), /They begin at random/);
  assert.match(
    await driver.text('learning-rate-advice'),
    /is a large learning rate.* 0\.01 is usual/,
  );
  for (const [rate, why] of [
    ['-1', /^Learning rate: .*unlearn.*Try 0\.01/],
    ['0', /^Learning rate: .*never move/],
    ['', /^Learning rate: .*how far each step moves/],
  ]) {
    await driver.set('#learning-rate', rate);
    assert.match(await driver.text('learning-rate-problem'), why);
    assert.match(await driver.text('status'), /^Cannot train yet\. Learning rate: /);
    assert.equal(await driver.run(`document.getElementById('start').disabled`), true);
  }
  await driver.set('#learning-rate', '1e-9');
  assert.match(await driver.text('learning-rate-advice'), /is a small learning rate/);
  await driver.set('#learning-rate', '0.03');
  await driver.set('#code', 'return 1; // not yet');
  await driver.open(url);
  assert.equal(await driver.run(`document.getElementById('loss').value`), 'meanSquaredError');
  assert.equal(await driver.run(`document.getElementById('learning-rate').value`), '0.03');
  assert.match(await driver.text('code-state'), /not used yet/);
  const layer = '#layers > li:nth-child(4) [data-option=activation]';
  assert.equal(await driver.run(`document.querySelector('${layer}').value`), 'linear');
}

/** Parts of the page that are loaded on demand: without a connection, then with one. */
export async function checkOffline(driver, url) {
  const context = driver.page.context();
  // Console errors are expected while offline.
  const offline = new Driver(await context.newPage(), driver.engine);
  await offline.open(url);
  await offline.train(1);
  await context.setOffline(true);
  await offline.click('#measure');
  await offline.until(`!document.getElementById('time-problem').hidden`);
  assert.match(
    await offline.text('time-problem'),
    /^A part of the page could not be fetched.*connect/,
  );
  await context.setOffline(false);
  await offline.click('#measure');
  await offline.until(`!document.getElementById('inside').hidden`);
  await offline.page.close();
}

/** Its fastest backend is found and named. */
async function checkFastest(driver) {
  await driver.set('#backend', 'fastest');
  await driver.set('#compare-steps', '2');
  await driver.click('#run-compare');
  await driver.untilText('compare-text', '/^2 steps.*Its backends, a step each: wasm/');
  const headline = await driver.run(`document.querySelector('.headline').textContent`);
  assert.match(
    headline,
    /^[\d.]+ × (as fast as|slower than) TensorFlow.js on (wasm|webgl), its fastest backend/,
  );
}

/** Software WebGL is no fair baseline; the page states that. */
async function checkSoftwareGl(driver) {
  const renderer = await driver.run(`(() => {
    const gl = document.createElement('canvas').getContext('webgl2');
    const named = gl?.getExtension('WEBGL_debug_renderer_info');
    return gl ? String(gl.getParameter(named?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER)) : '';
  })()`);
  if (!/swiftshader|llvmpipe/i.test(renderer)) return;
  await driver.set('#backend', 'webgl');
  await driver.set('#compare-steps', '2');
  await driver.click('#run-compare');
  await driver.untilText('compare-text', '/^2 steps/');
  assert.match(
    await driver.text('compare-result'),
    /but uneven: its WebGL runs on the processor here/,
  );
}

export async function checkComparison(driver) {
  await driver.set('#backend', 'cpu');
  await driver.set('#compare-steps', '4');
  await driver.click('#run-compare');
  await driver.untilText('compare-text', '/^4 steps of 64 examples/');
  const difference = /differ by up to ([\d.e-]+) %/.exec(await driver.text('compare-text'));
  assert.ok(Number(difference[1]) < 0.01, difference[0]);
  assert.equal(await driver.run(`document.querySelectorAll('.comparison tbody tr').length`), 2);
  assert.match(await driver.text('compare-result'), /TensorFlow.js 4.22.0, cpu/);
  const threads = Number(await driver.text('threads'));
  const headline = await driver.run(`document.querySelector('.headline').textContent`);
  assert.match(headline, /^[\d.]+ × /);
  const uneven = `${threads} threads here, one thread there`;
  if (threads > 1) assert.ok(headline.includes(uneven), headline);
  const bars = await driver.run(
    `[...document.querySelectorAll('#compare-result .step-bars i')].map((bar) => parseFloat(bar.style.width))`,
  );
  assert.equal(Math.max(...bars), 100);
  assert.equal(bars.length, 2);
  await checkFastest(driver);
  await checkSoftwareGl(driver);
  return `losses ${difference[0]}`;
}
