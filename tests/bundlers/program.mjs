// What every project does with the package: trains, saves and loads, spells a module, compiles in the background, runs on two
// threads where it can.

/** Gives what `expected` says of a page or process that may have threads. */
export async function run(tl) {
  await tl.ready();
  const x = tl.tensor([0, 0, 0, 1, 1, 0, 1, 1], [4, 2]);
  const y = tl.tensor([0, 1, 1, 0]);
  const model = tl.sequential({ seed: 5 });
  model.add(tl.layers.dense({ units: 8, activation: 'tanh', inputShape: [2] }));
  model.add(tl.layers.dense({ units: 1, activation: 'sigmoid' }));
  model.compile({ loss: 'sigmoidCrossEntropy', optimizer: tl.train.adam(0.05) });
  await model.fit(x, y, { epochs: 300, batchSize: 4 });
  const classes = (each) => [...each.predict(x).dataSync()].map(Math.round).join();
  const saved = {};
  await model.save(tl.io.withSaveHandler(async (artifacts) => Object.assign(saved, artifacts)));
  const loaded = classes(await tl.loadLayersModel(tl.io.fromMemory(saved)));
  const text = (await tl.moduleText(model.toWasm())).slice(0, 7);
  const isHere = await compilesHere(tl);
  return { trained: classes(model), loaded, text, isHere, threads: await threads(tl) };
}

export const expected = (threads) => ({
  trained: '0,1,1,0',
  loaded: '0,1,1,0',
  text: '(module',
  isHere: false,
  threads,
});

/** Whether this thread compiles a long plan that is not read at once. */
async function compilesHere(tl) {
  const long = tl.tidy(() => {
    let x = tl.tensor([[0.1], [0.2]]);
    for (let step = 0; step < 60; step += 1) x = x.tanh().concat(x.slice([0, 0], [2, 1]), 1);
    return x;
  });
  const { Module } = WebAssembly;
  let modules = 0;
  WebAssembly.Module = class extends Module {
    constructor(...given) {
      super(...given);
      modules += 1;
    }
  };
  try {
    await long.data();
  } finally {
    WebAssembly.Module = Module;
  }
  return modules > 0;
}

/** How many threads there are after some runs. */
async function threads(tl) {
  tl.env().set('THREADS_COUNT', 2);
  tl.env().set('THREADS_MIN_WORK', 1);
  const f = tl.compile({ x: [256, 256] }, ({ x }) => ({ y: x.matMul(x).relu() }));
  const x = tl.tensor(new Float32Array(256 * 256).fill(1), [256, 256]);
  const until = performance.now() + 10000;
  let count = 0;
  while (count === 0 && tl.env().threads.count > 1 && performance.now() < until) {
    await f.runAsync({ x });
    await new Promise((done) => setTimeout(done, 20));
    count = tl.memory().threads;
    // Threads that could not start are there for a moment.
    await new Promise((done) => setTimeout(done, 200));
    count = Math.min(count, tl.memory().threads);
  }
  f.dispose();
  return Math.max(count, 1);
}
