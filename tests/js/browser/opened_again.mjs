// A page that is opened again finds the executables of its models in IndexedDB, and compiles where they are damaged or forbidden.
import assert from 'node:assert/strict';

/** Runs in the page: predictions and losses of a model, and how many executables were compiled for them. */
async function visit() {
  const { CoreModel } = await import('/js/dist/core/handles.js');
  const { enqueueCompilation } = await import('/js/dist/runtime/background.js');
  const tl = await import('/js/dist/index.js');
  tl.env().set('EXECUTABLE_CACHE', true);
  tl.env().set('AUTO_TUNE', false);
  await tl.ready();
  let stored = 0;
  const { stored: find } = CoreModel.prototype;
  CoreModel.prototype.stored = function spied(request) {
    const found = find.call(this, request);
    if (found !== undefined) stored += 1;
    return found;
  };
  let asked = 0;
  const { store } = CoreModel.prototype;
  CoreModel.prototype.store = function spied(...args) {
    asked += 1;
    return store.apply(this, args);
  };
  const model = tl.sequential({ seed: 3, name: 'net' });
  model.add(tl.layers.dense({ units: 8, activation: 'relu', inputShape: [4], name: 'a' }));
  model.add(tl.layers.dense({ units: 2, name: 'b' }));
  model.compile({ loss: 'meanSquaredError', optimizer: 'adam' });
  const x = tl.tensor2d(
    Array.from({ length: 40 }, (_, at) => Math.sin(at)),
    [10, 4],
  );
  const y = tl.tensor2d(
    Array.from({ length: 20 }, (_, at) => Math.cos(at)),
    [10, 2],
  );
  const { history } = await model.fit(x, y, { epochs: 2, shuffle: false });
  const predicted = Array.from(await model.predict(x).data());
  await enqueueCompilation(() => {});
  await new Promise((done) => setTimeout(done, 500)); // records are written later
  return { compiled: asked, stored, results: [...history.loss, ...predicted] };
}

async function damage() {
  const opening = indexedDB.open('tensorlathe-executables');
  await new Promise((done) => (opening.onsuccess = done));
  const store = opening.result.transaction('records', 'readwrite').objectStore('records');
  const reading = store.getAll();
  await new Promise((done) => (reading.onsuccess = done));
  for (const each of reading.result) {
    each.content[each.content.length >> 1] ^= 1;
    store.put(each);
  }
  await new Promise((done) => (store.transaction.oncomplete = done));
  opening.result.close();
  return reading.result.length;
}

export async function checkOpenedAgain(page, url) {
  const open = async () => {
    await page.goto(`${url}/tests/js/browser/empty.html`);
    return page.evaluate(visit);
  };
  const first = await open();
  assert.ok(first.compiled > 0);
  assert.equal(first.stored, 0);
  const second = await open();
  assert.equal(second.compiled, 0);
  assert.ok(second.stored > 0);
  assert.deepEqual(second.results, first.results);

  assert.equal(await page.evaluate(damage), first.compiled);
  const third = await open();
  assert.deepEqual([third.compiled, third.stored], [first.compiled, 0]);
  assert.deepEqual(third.results, first.results);
  assert.equal((await open()).compiled, 0);

  await page.evaluate(async () => (await import('/js/dist/index.js')).cache.clear());
  assert.equal((await open()).compiled, first.compiled);

  await page.goto(`${url}/tests/js/browser/empty.html`);
  await page.evaluate(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('forbidden', 'SecurityError');
    };
  });
  assert.deepEqual((await page.evaluate(visit)).results, first.results);
}
