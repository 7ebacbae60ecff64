// Memory leaks of a model after everything is disposed: for Node and for pages.

/** Builds, compiles, trains, evaluates, predicts, exports, saves, loads and disposes, `times` times. */
export async function useModels(tl, times) {
  const x = tl.tensor([0, 0, 0, 1, 1, 0, 1, 1], [4, 2]);
  const y = tl.tensor([0, 1, 1, 0]);
  for (let time = 0; time < times; ++time) {
    const model = tl.sequential({ seed: time });
    model.add(tl.layers.dense({ units: 3, activation: 'tanh', inputShape: [2] }));
    model.add(tl.layers.dropout({ rate: 0.2 }));
    model.add(tl.layers.dense({ units: 2, activation: 'softmax' }));
    model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics: ['accuracy'] });
    await model.fit(x, y, { epochs: 2, batchSize: 2 });
    model.evaluate(x, y);
    const expected = model.predict(x);
    model.toWasm();
    const copy = await tl.loadLayersModel(
      tl.io.fromMemory(await tl.io.toArtifacts(model, { includeOptimizer: true })),
    );
    const result = copy.predict(x);
    const [a, b] = [expected, result].map((each) => each.dataSync().join());
    if (a !== b) throw new Error(`the copy predicts ${b}, not ${a}`);
    const f = tl.compile({ x: [2, 2] }, ({ x }) => ({ y: x.matMul(x) }));
    f.run({
      x: [
        [1, 2],
        [3, 4],
      ],
    });
    for (const each of [expected, result, f, copy, model]) each.dispose();
  }
  x.dispose();
  y.dispose();
}

/**
 * The counts before and after `times` uses, once the core has grown to what it needs: its memory cannot shrink. Models
 * without a seed draw one, and the peak memory of the core depends on it: here all draw the same.
 */
export async function measureMemory(tl, times) {
  const { random } = Math;
  Math.random = () => 0.5;
  try {
    await useModels(tl, 400);
    const before = tl.memory();
    await useModels(tl, times);
    return { before, after: tl.memory() };
  } finally {
    Math.random = random;
  }
}
