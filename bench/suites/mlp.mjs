/** C: inference of dense networks, from numbers in JavaScript to numbers in JavaScript. */
import { randomNetworks } from '../random_rows.mjs';
import { mlp, tenSmallLayers } from '../models/mlp.mjs';
import { batchSize, networks } from '../networks.mjs';
import { inferenceRow } from './rows.mjs';

const small = inferenceRow(tenSmallLayers());
const rowsOf = (batch) => networks.map((network) => inferenceRow(mlp(network, batch)));
const singles = rowsOf(1);
const batches = rowsOf(batchSize);

export const mlps = {
  title: 'Dense networks',
  about:
    'Inference of dense networks with sigmoid hidden layers (784-…) or relu (10×): numbers go in from JavaScript and come back.',
  task: 'infer',
  options: { resident: false },
  peers: ['tensorlathe', 'litert', 'tfjs', 'onnxruntime', 'jax'],
  rows: [small, ...singles, ...batches],
  randomRows: randomNetworks,
  targets: [
    { engine: 'chromium', threads: 1, rows: singles.map(({ name }) => name), fastest: 3 },
    { engine: 'chromium', threads: 1, rows: batches.map(({ name }) => name), fastest: 1.3 },
    { engine: 'node', threads: 1, rows: [small.name], ms: 0.006 },
    { threads: 2, oneThread: 0.95 },
  ],
};
