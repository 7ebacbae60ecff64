/** C: inference of dense networks, from numbers in JavaScript to numbers in JavaScript. */
import { mlp, tenSmallLayers } from '../models/mlp.mjs';
import { batchSize, networks } from '../networks.mjs';
import { inferenceRow } from './rows.mjs';

export const mlps = {
  title: 'Inference of dense networks',
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
