// The tests of decoders, on the device webgpu: some of their variants, all with DECODERS=all.
import { useDevice } from '../onnx/decoder_device.mjs';

useDevice('webgpu');
for (const each of ['decoder', 'kinds', 'positions', 'seq2seq'])
  await import(`../node/decode/${each}.test.mjs`);
