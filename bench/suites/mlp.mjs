/** C: inference of dense networks, from numbers in JavaScript to numbers in JavaScript. */
import { mlp, tenSmallLayers } from '../models/mlp.mjs';
import { batchSize, networks } from '../networks.mjs';
import { inferenceRow } from './rows.mjs';

export const mlps = {
  title: 'Dense networks',
  about:
    'Inference of dense networks with sigmoid hidden layers (784-…) or relu (10×): numbers go in from JavaScript and come back.',
  task: 'infer',
  options: { resident: false },
  peers: ['tensorlathe', 'litert', 'tfjs', 'onnxruntime', 'jax'],
  rows: [
    inferenceRow(tenSmallLayers()),
    ...[1, batchSize].flatMap((batch) =>
      networks.map((network) => inferenceRow(mlp(network, batch))),
    ),
  ],
};
