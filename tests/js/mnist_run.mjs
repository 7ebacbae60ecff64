// The training run on MNIST for Node and the browsers. Independent of the platform: package and digits are arguments.

/**
 * 784-128-10, relu, Adam, 5 epochs of batches of 64 from one seed, the learning rate falling from 0.002 to 0.6 of it every epoch.
 * Resolves with the test accuracy.
 */
export async function trainMnist(tl, { train, test }, tensors) {
  const model = tl.sequential({ seed: 7 });
  model.add(tl.layers.dense({ units: 128, activation: 'relu', inputShape: [784] }));
  model.add(tl.layers.dense({ units: 10, activation: 'softmax' }));
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics: ['accuracy'] });
  const [x, y] = tensors(train);
  await model.fit(x, y, {
    epochs: 5,
    batchSize: 64,
    callbacks: { onEpochBegin: (epoch) => model.setLearningRate(0.002 * 0.6 ** epoch) },
  });
  const { acc } = model.evaluate(...tensors(test), { asObject: true });
  model.dispose();
  return acc;
}
