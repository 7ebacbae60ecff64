// A language model with a key/value cache generates its story, token by token.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { drawn, loadModel } from '../../onnx/decoder_device.mjs';
import { generate, llama } from '../../onnx/llama.mjs';
import { readExpected, readStories, readVocabulary, storiesAbsent } from '../../onnx/stories.mjs';

const begin = 1;
const tensors = {
  int64: (values) => tl.tensor(BigInt64Array.from(values, BigInt), [1, values.length], 'int64'),
  zeros: (shape) => tl.zeros(shape),
  pick: async (logits, length, vocabulary) => {
    const last = (await logits.data()).subarray((length - 1) * vocabulary);
    return last.indexOf(Math.max(...last));
  },
};

for (const grouped of drawn([false, true])) {
  test(
    `the story of the 260K model, ${grouped ? 'GroupQueryAttention' : 'plain operators'}`,
    { skip: storiesAbsent },
    async () => {
      const { config, weights } = readStories();
      const model = await loadModel(llama(config, weights, { grouped }));
      const run = ({ position_ids, ...feeds }) =>
        model.run(grouped ? feeds : { ...feeds, position_ids });
      const { expected_text: text, expected_ids: ids } = readExpected();
      const start = performance.now();
      const tokens = await generate(config, run, [begin], ids.length, tensors);
      const seconds = (performance.now() - start) / 1000;
      console.log(`${(ids.length / seconds).toFixed(0)} tokens/s`);
      assert.deepEqual(tokens.slice(1), ids);
      const pieces = readVocabulary(config.vocabulary);
      const story = tokens
        .slice(1)
        .map((each) => pieces[each])
        .join('')
        .trimStart();
      assert.equal(story.slice(0, text.length), text);
      model.dispose();
    },
  );
}
