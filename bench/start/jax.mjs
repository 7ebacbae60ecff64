/** jax-js, from the weights to the first result. */
import { infer } from '../peers/jax.mjs';
import { loadModel, report } from './report.mjs';

report(async () => (await infer(await loadModel(), { resident: false })).output());
