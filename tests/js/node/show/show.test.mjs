// Figures of models, histories and tensors: their text, and SVG that is well formed whatever the names and values are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { inflateSync } from 'node:zlib';
import * as tf from '@tensorflow/tfjs';
import { PNG } from 'pngjs';
import * as tl from 'tensorlathe';
import { show } from 'tensorlathe/show';
import { throws } from '../../lib.mjs';

/** The tags of an SVG balance, attributes are quoted, and no coordinate is NaN; gives its texts. */
function checkSvg(svg) {
  assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^]*<\/svg>$/);
  const open = [];
  const rest = svg.replace(
    /<(\/?)(\w+)((?: [\w:-]+="[^"<>]*")*)>/g,
    (_, close, name, attributes) => {
      assert.doesNotMatch(attributes, /NaN|Infinity|undefined/);
      if (close) assert.equal(open.pop(), name);
      else open.push(name);
      return '\n';
    },
  );
  assert.deepEqual(open, []);
  assert.doesNotMatch(rest, /<|&(?!#\d+;)/);
  const decode = (text) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
  return [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => decode(text));
}

const paths = (svg, kind) =>
  [...svg.matchAll(/<path class="([^"]*)" d="([^"]*)"/g)]
    .filter(([, each]) => each.startsWith(kind))
    .map(([, , d]) => d);

test('a chart for each metric, with its validation', async () => {
  const model = tl.sequential({ layers: [tl.layers.dense({ units: 2, inputShape: [3] })] });
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd', metrics: ['accuracy'] });
  const args = { epochs: 4, initialEpoch: 1, validationSplit: 0.5, verbose: 0 };
  const history = await model.fit(tl.ones([8, 3]), tl.ones([8, 2]), args);
  const figure = show(history);
  const texts = checkSvg(figure.svg);
  assert.equal(texts[0], 'Training: 3 epochs');
  for (const name of ['loss', 'val_loss', 'acc', 'val_acc']) {
    const last = history.history[name].at(-1);
    const legend = texts.find((text) => text.startsWith(`${name} `));
    assert.ok(Math.abs(Number(legend.split(' ')[1]) - last) <= 1e-3 * last, legend);
  }
  const marks = figure.svg.matchAll(/text-anchor="middle" class="faint">(\d+)</g);
  assert.deepEqual([...marks].map(([, epoch]) => epoch).join(' '), '2 3 4 2 3 4');
  assert.equal(paths(figure.svg, 'line').length, 8); // two lines a chart, and those of the legends
  const printed = String(figure);
  assert.match(printed, /^Training: 3 epochs\n\n● loss [\d.]+ {3}○ val_loss [\d.]+\n/);
  assert.match(printed, /└─+\n +2 +4 epoch/);
  assert.equal(printed.match(/●/g).length, 8);
  model.dispose();
});

test('NaN and infinity are marked, and lines have gaps there', () => {
  const history = { loss: [3, NaN, 2, 1.5, -Infinity], val_loss: [NaN, Infinity], rest: [1e308, -1e308, 0, 1e-300] }; // prettier-ignore
  const figure = show({ history });
  const texts = checkSvg(figure.svg);
  assert.equal(texts.filter((text) => text === '×').length, 6);
  assert.ok(texts.includes('loss -Infinity, 2 not finite'));
  const [loss] = paths(figure.svg, 'line first');
  assert.match(loss, /^M[\d. ]+M[\d. ]+L[\d. ]+$/);
  assert.equal(String(figure).match(/×/g).length, 5); // two of one epoch
});

test('one epoch, none, equal values and thousands', () => {
  const empty = show(new tl.History());
  assert.equal(String(empty), 'Training: no epochs');
  assert.deepEqual(checkSvg(empty.svg), ['Training: no epochs']);
  assert.equal(String(show({ epoch: [], history: {} })), 'Training: no epochs');
  const one = show({ epoch: [6], history: { loss: [0.25] } });
  const texts = checkSvg(one.svg);
  assert.ok(texts.includes('Training: 1 epoch') && texts.includes('7'));
  assert.match(one.svg, /<circle class="dot first"/);
  assert.match(String(one), /0\.25 ┤●/);
  checkSvg(show({ history: { loss: [2, 2, 2] } }).svg);
  checkSvg(show({ history: { loss: [0, 0] } }).svg);
  const values = Array.from({ length: 100_000 }, (_, at) => (at === 77_777 ? 9 : at / 1e5));
  const long = show({ history: { loss: values } });
  assert.ok(long.svg.length < 20_000 && checkSvg(long.svg).includes('10'));
  const nested = { history: { loss: [1], confusionMatrix: [[[1, 2]]] } };
  assert.doesNotMatch(String(show(nested)), /confusion/);
});

test('names are escaped', () => {
  const name = '<script>alert("1")</script>&\'\u0000';
  const figure = show({ history: { [name]: [1, NaN] } }, { title: name });
  const texts = checkSvg(figure.svg);
  assert.ok(texts[0].startsWith('<script>alert("1")</script>&\'\ufffd: 2'));
  const layer = { name, inboundNodes: [{ inputs: [], outputs: [{ shape: [null, 2] }] }], getClassName: () => '<b>', countParams: () => 3 }; // prettier-ignore
  const model = { name, layers: [layer], outputs: [{ sourceLayer: layer, nodeIndex: 0 }] };
  assert.ok(checkSvg(show(model).svg).includes('<b> [null, 2]'));
  const { svg, html } = show(tl.tensor(['<i>', '&']), { title: '<u>' });
  assert.ok(checkSvg(svg).includes('[<i>, &]'));
  assert.doesNotMatch(html, /<(?!\/?pre>)/);
});

/** A model with two inputs, a layer that is called twice, two outputs and an edge past a layer. */
function graph() {
  const a = tl.input({ shape: [8], name: 'a' });
  const b = tl.input({ shape: [8], name: 'b' });
  const shared = tl.layers.dense({ units: 8, name: 'shared' });
  const sum = tl.layers.add({ name: 'sum' }).apply([shared.apply(a), shared.apply(b)]);
  const all = tl.layers.concatenate({ name: 'all' }).apply([sum, a]);
  const out = tl.layers.dense({ units: 2, name: 'out' });
  out.trainable = false;
  return tl.model({ inputs: [a, b], outputs: [out.apply(all), sum], name: 'graph' });
}

test('a model as a graph of its layers', () => {
  const figure = show(graph());
  assert.deepEqual(String(figure).split('\n'), [
    'graph: 6 layers, 106 parameters',
    '',
    'a           InputLayer   [null, 8]',
    'shared (1)  Dense        [null, 8]   72 parameters          ← a',
    'b           InputLayer   [null, 8]',
    'shared (2)  Dense        [null, 8]   72 parameters          ← b',
    'sum         Add          [null, 8]                          ← shared (1), shared (2)',
    'all         Concatenate  [null, 16]                         ← sum, a',
    'out         Dense        [null, 2]   34 parameters, frozen  ← all',
  ]);
  const texts = checkSvg(figure.svg);
  assert.ok(texts.includes('shared (2)') && texts.includes('34 parameters, frozen'));
  assert.equal(paths(figure.svg, 'edge').length, 7);
  const boxes = [...figure.svg.matchAll(/<rect class="(node[^"]*)" x="([\d.]+)" y="(\d+)" width="(\d+)"/g)]; // prettier-ignore
  assert.equal(boxes.length, 7);
  assert.equal(boxes.filter(([, kind]) => kind === 'node end').length, 4);
  for (const [at, [, , x, y, width]] of boxes.entries()) {
    for (const [, , x2, y2, width2] of boxes.slice(at + 1)) {
      const isApart = y !== y2 || +x + +width <= +x2 || +x2 + +width2 <= +x;
      assert.ok(isApart, 'boxes do not overlap');
    }
  }
});

test('chains of thousands of layers, nested models, models without layers', () => {
  const layers = [];
  for (let at = 0; at < 3000; ++at) {
    const inputs = layers.slice(-1).map((each) => ({ sourceLayer: each, nodeIndex: 0 }));
    const inboundNodes = [{ inputs, outputs: [{ shape: [null, 2] }] }];
    layers.push({ name: `r${at}`, inboundNodes, getClassName: () => 'ReLU', countParams: () => 0 });
  }
  const deep = show({ name: 'deep', layers, outputs: [{ sourceLayer: layers.at(-1), nodeIndex: 0 }] }); // prettier-ignore
  assert.equal(String(deep).split('\n').length, 3002);
  checkSvg(deep.svg);
  const inner = tl.sequential({ layers: [tl.layers.dense({ units: 2, inputShape: [3] })] });
  const outer = tl.sequential({ layers: [tl.layers.dense({ units: 3, inputShape: [3] }), inner] });
  assert.match(String(show(outer)), /\n\w+ +Sequential +\[null, 2\] +8 parameters$/);
  assert.match(String(show(tl.sequential())), /^\w+: 0 layers, 0 parameters/);
  checkSvg(show(tl.sequential()).svg);
});

/** The pixels of the one image of a figure. */
function pixelsOf({ svg }) {
  const [, base64] = /<image href="data:image\/png;base64,([^"]+)"/.exec(svg); // prettier-ignore
  const file = Buffer.from(base64, 'base64');
  assert.ok(inflateSync(file.subarray(file.indexOf('IDAT') + 4, -16)).length > 0);
  return PNG.sync.read(file);
}

test('tensors with the shape of an image are one', () => {
  const gray = show(
    tl.tensor(
      Float32Array.from({ length: 80 }, (_, at) => at / 79),
      [8, 10],
    ),
  );
  const { width, height, data } = pixelsOf(gray);
  assert.deepEqual([width, height, ...data.subarray(-4)], [10, 8, 255, 255, 255, 255]);
  assert.deepEqual([...data.subarray(4 * 40, 4 * 41)], [129, 129, 129, 255]);
  assert.match(String(gray), /^Tensor: float32 \[8, 10\], black 0, white 1\n/);
  assert.equal(String(gray).split('\n').length, 5);
  const colors = Int32Array.from({ length: 8 * 8 * 3 }, (_, at) => [255, 128, 0][at % 3]);
  const image = pixelsOf(show(tl.tensor(colors, [8, 8, 3], 'int32')));
  assert.deepEqual([...image.data.subarray(0, 4)], [255, 128, 0, 255]);
  const values = Float32Array.from({ length: 64 }, (_, at) => at - 32);
  values[9] = NaN;
  const heat = show(tl.tensor(values, [8, 8]), { title: 'weights' });
  assert.equal(String(heat).split('\n')[0], 'weights: float32 [8, 8], black -32, white 31, 1 not finite'); // prettier-ignore
  assert.deepEqual([...pixelsOf(heat).data.subarray(36, 40)], [255, 0, 255, 255]);
  const batch = show(tl.zeros([20, 8, 8, 1]));
  assert.match(String(batch), /, the first 16 of 20\n/);
  assert.deepEqual([pixelsOf(batch).width, pixelsOf(batch).height], [35, 35]);
  const large = pixelsOf(show(tl.zeros([1024, 2000])));
  assert.deepEqual([large.width, large.height], [512, 262]);
  assert.match(inspect(gray, { colors: true }), /\x1b\[38;2;0;0;0m/);
  const plain = [tl.zeros([8, 8]), tl.ones([8, 8], 'bool'), tl.tensor(new Float32Array(64).fill(NaN), [8, 8])]; // prettier-ignore
  for (const each of plain) checkSvg(show(each).svg);
});

test('other tensors are numbers', () => {
  const figure = show(tl.tensor([[1, 2], [3, NaN]])); // prettier-ignore
  assert.equal(
    String(figure),
    'Tensor: float32 [2, 2], from 1 to 3, mean 2, 1 not finite\n[[1, 2  ],\n [3, NaN]]',
  );
  assert.equal(figure.html, `<pre>${String(figure)}</pre>`);
  checkSvg(figure.svg);
  assert.equal(String(show(tl.scalar(3))), 'Tensor: float32 []\n3');
  assert.match(String(show(tl.zeros([0, 9]))), /^Tensor: float32 \[0, 9\]\n/);
  assert.match(String(show(tl.zeros([100, 7]))), /\n… \d+ more lines$|\n.*\.\.\./);
});

test('models, histories and tensors of TensorFlow.js', async () => {
  await tf.setBackend('cpu');
  const { dense } = tf.layers;
  const model = tf.sequential({ name: 'theirs', layers: [dense({ units: 2, inputShape: [3] }), dense({ units: 1 })] }); // prettier-ignore
  assert.match(String(show(model)), /^theirs: 3 layers, 11 parameters\n\n\w+ +InputLayer +\[null, 3\]\n/); // prettier-ignore
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  const history = await model.fit(tf.ones([4, 3]), tf.ones([4, 1]), { epochs: 2, verbose: 0 });
  assert.match(String(show(history)), /^Training: 2 epochs\n\n● loss /);
  assert.match(String(show(tf.tensor2d([[1, 2]]))), /^Tensor: float32 \[1, 2\], from 1 to 2.*\n\[\[1, 2\],\]$/); // prettier-ignore
});

test('terminals, notebooks and pages', () => {
  const figure = show({ history: { loss: [1, 2] } });
  assert.equal(inspect(figure), String(figure));
  assert.match(inspect(figure, { colors: true }), /\x1b\[34m●\x1b\[39m/);
  assert.deepEqual(figure[Symbol.for('Jupyter.display')](), {
    'text/plain': String(figure),
    'text/html': figure.html,
    'image/svg+xml': figure.svg,
  });
  throws(
    () => figure.toElement(),
    'show: toElement works in pages; elsewhere use toString, svg or html',
  );
});

test('anything else is an error', () => {
  for (const [value, what] of [
    [5, 'Number'],
    [null, 'Null'],
    [undefined, 'Undefined'],
    [{ loss: [1] }, 'Object'],
    [Promise.resolve(1), 'a promise: await it'],
  ]) {
    throws(
      () => show(value),
      `show: needs a model of layers, the history of fit or a tensor; got ${what}`,
    );
  }
  throws(
    () => show(tl.scalar(1), { titel: 'x' }),
    'show: there is no option titel; did you mean title?',
  );
});
