// What tfjs-vis shows in a page: texts, and where it draws. The bundler resolves @tensorflow/tfjs-core by an alias.
import * as tf from '@tensorflow/tfjs';
import * as tfvis from '@tensorflow/tfjs-vis';

const waves = (shape, seed = 1) => {
  const size = shape.reduce((product, each) => product * each, 1);
  const values = Float32Array.from({ length: size }, (_, at) => Math.sin(12.9898 * (at + seed)));
  return tf.tensor(values, shape);
};

const surfaces = {};
const surface = (name) => (surfaces[name] = tfvis.visor().surface({ name, tab: 'charts' }));

async function draw() {
  const values = Array.from({ length: 9 }, (_, x) => ({ x, y: x * x, index: x, value: x }));
  await tfvis.render.barchart(surface('bars'), values);
  await tfvis.render.linechart(surface('lines'), { values: [values, values], series: ['a', 'b'] });
  await tfvis.render.scatterplot(surface('points'), { values: [values] });
  await tfvis.render.histogram(surface('histogram'), [...waves([200]).dataSync()]);
  await tfvis.render.table(surface('table'), {
    headers: ['a', 'b'],
    values: [
      [1, 2],
      [3, 4],
    ],
  });
  await tfvis.render.heatmap(surface('heat'), { values: waves([4, 5]) });
  const labels = tf.tensor1d([0, 1, 2, 2, 1, 0], 'int32');
  const guesses = tf.tensor1d([0, 1, 1, 2, 1, 2], 'int32');
  const matrix = await tfvis.metrics.confusionMatrix(labels, guesses);
  await tfvis.render.confusionMatrix(surface('matrix'), {
    values: matrix,
    tickLabels: ['a', 'b', 'c'],
  });
  const accuracy = await tfvis.metrics.perClassAccuracy(labels, guesses, ['a', 'b', 'c']);
  await tfvis.show.perClassAccuracy(surface('accuracy'), accuracy, ['a', 'b', 'c']);
  await tfvis.show.valuesDistribution(surface('values'), waves([7, 9]));
}

async function showModel() {
  const model = tf.sequential({ name: 'displayed' });
  model.add(tf.layers.dense({ units: 4, inputShape: [3], activation: 'tanh', name: 'first' }));
  model.add(tf.layers.dense({ units: 1, name: 'last' }));
  model.setWeights([waves([3, 4]), tf.zeros([4]), waves([4, 1]), tf.zeros([1])]);
  await tfvis.show.modelSummary(surface('summary'), model);
  await tfvis.show.layer(surface('layer'), model.getLayer('first'));
  model.compile({ loss: 'meanSquaredError', optimizer: tf.train.sgd(0.1), metrics: ['mae'] });
  const callbacks = tfvis.show.fitCallbacks(surface('training'), ['loss', 'mae'], {
    callbacks: ['onEpochEnd'],
  });
  const history = await model.fit(waves([8, 3]), waves([8, 1], 4), {
    epochs: 3,
    shuffle: false,
    verbose: 0,
    callbacks,
  });
  await tfvis.show.history(surface('history'), history, ['loss', 'mae']);
}

/** Texts, sizes of drawings, and how many of their points are no background. */
function seen({ drawArea }) {
  const canvases = [...drawArea.querySelectorAll('canvas')].map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let drawn = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 0) drawn += 1;
    return [canvas.width, canvas.height, drawn];
  });
  return { text: drawArea.innerText.replace(/\s+/g, ' '), canvases };
}

async function run() {
  await tf.ready();
  await draw();
  await showModel();
  await new Promise((done) => setTimeout(done, 500));
  return Object.fromEntries(Object.entries(surfaces).map(([name, each]) => [name, seen(each)]));
}
const failed = ({ stack }) => ({ error: stack });
window.result = JSON.stringify(await run().catch(failed));
