// Sums of numbers spelled as text, read and written by recurrent layers, in the words of the addition example of TensorFlow.js.
import * as tf from '@tensorflow/tfjs';

class CharacterTable {
  constructor(chars) {
    this.chars = chars;
    this.charIndices = {};
    this.indicesChar = {};
    this.size = this.chars.length;
    for (let i = 0; i < this.size; ++i) {
      const char = this.chars[i];
      if (this.charIndices[char] != null) throw new Error(`Duplicate character '${char}'`);
      this.charIndices[this.chars[i]] = i;
      this.indicesChar[i] = this.chars[i];
    }
  }

  encode(str, numRows) {
    const rows = [];
    for (let i = 0; i < numRows; ++i) {
      const row = new Array(this.size).fill(0);
      row[this.charIndices[str[i]]] = 1;
      rows.push(row);
    }
    return rows;
  }

  encodeBatch(strings, numRows) {
    return tf.tensor3d(
      strings.map((each) => this.encode(each, numRows)),
      [strings.length, numRows, this.size],
    );
  }

  decode(rows) {
    return rows.map((row) => this.indicesChar[row.indexOf(Math.max(...row))]).join('');
  }
}

function generateData(digits, numExamples) {
  let state = 3;
  const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
  const digitArray = '0123456789'.split('');
  const f = () => {
    let str = '';
    while (str.length < digits) {
      const index = Math.floor(random() * 10);
      str += digitArray[index];
    }
    return Number.parseInt(str, 10);
  };
  const output = [];
  const maxLen = digits + 1 + digits;
  while (output.length < numExamples) {
    const [a, b] = [f(), f()];
    const q = `${a}+${b}`;
    const query = q + ' '.repeat(maxLen - q.length);
    let ans = (a + b).toString();
    if (ans.length < digits + 1) ans += ' '.repeat(digits + 1 - ans.length);
    output.push([query, ans]);
  }
  return output;
}

function createAndCompileModel(layers, hiddenSize, rnnType, digits, vocabularySize) {
  const maxLen = digits + 1 + digits;
  const model = tf.sequential();
  switch (rnnType) {
    case 'SimpleRNN':
      model.add(
        tf.layers.simpleRNN({
          units: hiddenSize,
          recurrentInitializer: 'glorotNormal',
          inputShape: [maxLen, vocabularySize],
        }),
      );
      break;
    case 'GRU':
      model.add(
        tf.layers.gru({
          units: hiddenSize,
          recurrentInitializer: 'glorotNormal',
          inputShape: [maxLen, vocabularySize],
        }),
      );
      break;
    default:
      model.add(
        tf.layers.lstm({
          units: hiddenSize,
          recurrentInitializer: 'glorotNormal',
          inputShape: [maxLen, vocabularySize],
        }),
      );
      break;
  }
  model.add(tf.layers.repeatVector({ n: digits + 1 }));
  for (let i = 0; i < layers; ++i) {
    model.add(
      tf.layers.lstm({
        units: hiddenSize,
        recurrentInitializer: 'glorotNormal',
        returnSequences: true,
      }),
    );
  }
  model.add(tf.layers.timeDistributed({ layer: tf.layers.dense({ units: vocabularySize }) }));
  model.add(tf.layers.activation({ activation: 'softmax' }));
  model.compile({ loss: 'categoricalCrossentropy', optimizer: 'adam', metrics: ['accuracy'] });
  return model;
}

/** The same first weights wherever it runs. */
function setWeights(model) {
  let state = 5;
  const next = () => ((state = (state * 16807) % 2147483647) / 2147483647 - 0.5) / 2;
  const values = (shape) => Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, next);
  model.setWeights(model.getWeights().map(({ shape }) => tf.tensor(values(shape), shape)));
}

export async function run(log) {
  const digits = 2;
  const charTable = new CharacterTable('0123456789+ ');
  const data = generateData(digits, 120);
  const split = Math.floor(data.length * 0.9);
  const encoded = (part) => [
    charTable.encodeBatch(
      part.map((each) => each[0]),
      digits + 1 + digits,
    ),
    charTable.encodeBatch(
      part.map((each) => each[1]),
      digits + 1,
    ),
  ];
  const [trainXs, trainYs] = encoded(data.slice(0, split));
  const [testXs, testYs] = encoded(data.slice(split));
  const numbers = [];
  for (const rnnType of ['SimpleRNN', 'GRU', 'LSTM']) {
    const model = createAndCompileModel(1, 12, rnnType, digits, charTable.size);
    setWeights(model);
    model.summary();
    for (let i = 0; i < 2; ++i) {
      const history = await model.fit(trainXs, trainYs, {
        epochs: 1,
        batchSize: 32,
        shuffle: false,
        validationData: [testXs, testYs],
        yieldEvery: 'epoch',
      });
      log(`Iteration ${i}: ${Object.keys(history.history).sort().join(', ')}`);
      for (const name of ['loss', 'acc', 'val_loss', 'val_acc'])
        numbers.push(history.history[name][0]);
    }
    const predictOut = model.predict(testXs);
    for (const rows of predictOut.arraySync().slice(0, 3)) log(charTable.decode(rows));
    log(predictOut.shape);
    predictOut.dispose();
  }
  for (const each of [trainXs, trainYs, testXs, testYs]) each.dispose();
  return numbers;
}
