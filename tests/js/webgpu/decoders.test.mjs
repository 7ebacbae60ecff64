// The tests of decoders, on the device webgpu: some of their variants, all with DECODERS=all.
import { useDevice } from '../onnx/decoder_device.mjs';

useDevice('webgpu');
for (const each of [
  'decode/decoder',
  'decode/kinds',
  'decode/positions',
  'decode/seq2seq',
  'onnx/stories',
])
  await import(`../node/${each}.test.mjs`);
