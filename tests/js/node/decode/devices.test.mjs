// The tests of decoders, on a device that cannot wait.
import { registerDevice } from '../../../../js/dist/devices/registry.js';
import { useDevice } from '../../onnx/decoder_device.mjs';
import { plainDevice } from '../runtime/plain_device.mjs';

registerDevice('plain', async () => plainDevice());
useDevice('plain');
for (const each of ['decoder', 'kinds', 'seq2seq']) await import(`./${each}.test.mjs`);
