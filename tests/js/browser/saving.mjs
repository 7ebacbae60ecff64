// Saving, loading and data in a page: IndexedDB, localStorage, downloads, uploads, csv, also together with TensorFlow.js.
import assert from 'node:assert/strict';

// Runs in the page; returns the names of the checks that passed, or throws.
const checks = `(async () => {
  const tl = await import('/js/dist/index.js');
  const passed = [];
  const assert = (condition, what) => {
    if (!condition) throw new Error(what);
    passed.push(what);
  };
  const make = (seed) => {
    const model = tl.sequential({ seed });
    model.add(tl.layers.dense({ units: 4, activation: 'relu', inputShape: [3] }));
    model.add(tl.layers.dense({ units: 2, activation: 'softmax' }));
    return model;
  };
  const x = [[1, 2, 3], [-1, 0.5, 2]];
  const predicted = (model) => JSON.stringify(model.predict(x).arraySync());
  const same = async (address, model) => predicted(await tl.loadLayersModel(address)) === predicted(model);
  const refusal = (promise) => promise.then(() => 'none', (error) => error.name + ': ' + error.message);
  const [one, two] = [make(1), make(2)];

  for (const scheme of ['indexeddb://', 'localstorage://']) {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => scheme + name);
    const { modelArtifactsInfo } = await one.save(a);
    assert(modelArtifactsInfo.weightDataBytes === 104, scheme + ' reports its size');
    assert(await same(a, one), scheme + ' saves and loads');
    await two.save(a);
    assert(await same(a, two), scheme + ' replaces');
    await tl.io.copyModel(a, b);
    await tl.io.moveModel(b, c);
    const names = Object.keys(await tl.io.listModels()).filter((name) => name.startsWith(scheme));
    assert(names.sort().join() === [a, c].join(), scheme + ' lists ' + names);
    assert((await tl.io.listModels())[a].dateSaved instanceof Date, scheme + ' knows when');
    assert(await same(c, two), scheme + ' moves');
    await tl.io.removeModel(c);
    assert((await refusal(tl.loadLayersModel(c))).includes('there is no model ' + c), scheme + ' removes');
    assert((await refusal(tl.io.removeModel(c))).includes('there is no model'), scheme + ' rejects');
  }
  await tl.io.copyModel('indexeddb://a', 'localstorage://d');
  assert(await same('localstorage://d', two), 'copies from one store to another');

  const large = tl.sequential({ seed: 1 });
  large.add(tl.layers.dense({ units: 1500, inputShape: [1500] }));
  const tooLarge = await refusal(large.save('localstorage://a'));
  assert(/LatheError: localStorage cannot store localstorage:..a, \\d+ KiB/.test(tooLarge), tooLarge);
  assert(await same('localstorage://a', two), 'localStorage retains the old model where the new is too large');
  localStorage.setItem('tensorlathe_models/a', localStorage.getItem('tensorlathe_models/a').slice(0, 99));
  assert((await refusal(tl.loadLayersModel('localstorage://a'))).includes('is damaged'), 'a damaged entry is reported');
  assert(!('localstorage://a' in (await tl.io.listModels())), 'a damaged entry is not listed');
  await tl.io.removeModel('localstorage://a');
  assert(localStorage.getItem('tensorlathe_models/a') === null, 'a damaged entry can be removed');

  await large.save('indexeddb://large');
  assert(await tl.loadLayersModel('indexeddb://large').then((m) => m.countParams() === 2251500), 'IndexedDB stores large models');
  const artifacts = await tl.io.toArtifacts(one);
  const unstorable = { load: async () => ({ ...artifacts, userDefinedMetadata: { f() {} } }) };
  const { openHandler } = await import('/js/dist/io/handlers.js');
  const handler = await openHandler('indexeddb://a', {}, 'test');
  assert((await refusal(handler.save(await unstorable.load()))).startsWith('LatheError: IndexedDB failed'), 'what cannot be stored is rejected');
  assert(await same('indexeddb://a', two), 'IndexedDB retains the old model where saving fails');

  const { indexedDb } = await import('/js/dist/io/indexed_db.js');
  await one.save('indexeddb://moved');
  const early = await indexedDb.handler('moved').load();
  await two.save('indexeddb://moved');
  assert((await indexedDb.remove('moved', early)) === undefined, 'a model that was saved concurrently is not removed');
  assert(await same('indexeddb://moved', two), 'and stays complete');
  await Promise.all(Array.from({ length: 20 }, (_, at) => [one, two][at % 2].save('indexeddb://moved')));
  assert((await same('indexeddb://moved', one)) || (await same('indexeddb://moved', two)), 'savings at once leave one model');
  await Promise.all([two.save('indexeddb://moved'), tl.io.moveModel('indexeddb://moved', 'localstorage://moved')]);
  const addresses = Object.keys(await tl.io.listModels()).filter((name) => name.endsWith('moved'));
  const isStored = await Promise.all(addresses.map((name) => same(name, two)));
  assert(isStored.includes(true), 'moving loses no model that is saved concurrently');

  const tf = globalThis.tf;
  const theirs = await tf.loadLayersModel('indexeddb://a');
  const theirPrediction = theirs.predict(tf.tensor(x)).arraySync().flat();
  const ours = two.predict(x).arraySync().flat();
  assert(theirPrediction.every((value, at) => Math.abs(value - ours[at]) < 1e-5), 'TensorFlow.js finds it in IndexedDB');
  await theirs.save('indexeddb://theirs');
  const back = (await tl.loadLayersModel('indexeddb://theirs')).predict(x).arraySync().flat();
  assert(back.every((value, at) => Math.abs(value - ours[at]) < 1e-5), 'what TensorFlow.js saved there loads');

  const downloads = [];
  const { click } = HTMLAnchorElement.prototype;
  HTMLAnchorElement.prototype.click = function () {
    downloads.push(fetch(this.href).then(async (r) => new File([await r.blob()], this.download)));
  };
  await two.save('downloads://mine');
  await two.saveWeights('downloads://mine');
  HTMLAnchorElement.prototype.click = click;
  const files = await Promise.all(downloads);
  const fileNames = files.map(({ name }) => name).join();
  assert(fileNames === 'mine.json,mine.weights.bin,mine.safetensors', 'downloads ' + fileNames);
  assert(await same(tl.io.browserFiles(files.slice(0, 2).reverse()), two), 'uploads load');
  await one.loadWeights(files[2]);
  assert(predicted(one) === predicted(two), 'uploaded weights load');

  const xs = tl.randomUniform([20, 3]), ys = tl.oneHot(Array.from({ length: 20 }, (_, at) => at % 2), 2);
  const pretend = { onEpochEnd: (epoch, logs) => void (logs.val_loss = [3, 1, 2][epoch]) };
  for (const address of ['indexeddb://best', 'localstorage://best', 'downloads://best']) {
    const model = make(3);
    model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
    const predictions = [];
    const note = { onEpochEnd: () => void predictions.push(predicted(model)) };
    const best = tl.callbacks.modelCheckpoint(address, { saveBestOnly: true });
    downloads.length = 0;
    HTMLAnchorElement.prototype.click = function () {
      downloads.push(fetch(this.href).then(async (r) => new File([await r.blob()], this.download)));
    };
    await model.fit(xs, ys, { epochs: 3, callbacks: [pretend, note, best] });
    HTMLAnchorElement.prototype.click = click;
    const saved = await Promise.all(downloads);
    assert(saved.length === (address.startsWith('downloads') ? 4 : 0), address + ' is saved twice');
    const source = saved.length > 0 ? tl.io.browserFiles(saved.slice(2)) : address;
    assert(predicted(await tl.loadLayersModel(source)) === predictions[1], 'checkpoints at ' + address);
  }

  const rows = await tl.data.csv(new File(['a,b\\n1,"x,y"\\n'], 't.csv')).toArray();
  assert(JSON.stringify(rows) === '[{"a":1,"b":"x,y"}]', 'csv from a file');
  const fetched = await tl.data.csv('data:text/csv,a%0A5%0A6').toArray();
  assert(JSON.stringify(fetched) === '[{"a":5},{"a":6}]', 'csv by address');
  for (const address of Object.keys(await tl.io.listModels())) await tl.io.removeModel(address);
  return passed;
})()`;

/** Models and data that live in a page. */
export async function checkSaving(page, url) {
  await page.goto(`${url}/tests/js/browser/page.html`);
  await page.waitForFunction('window.isReady === true', { timeout: 30000 });
  await page.addScriptTag({ url: `${url}/node_modules/@tensorflow/tfjs/dist/tf.min.js` });
  const passed = await page.evaluate(checks);
  assert.ok(passed.length > 25);
  return `${passed.length} checks`;
}
