/** jax-js, from the weights to the first result. */
import { loading } from './model.mjs';
import { infer } from '../peers/jax.mjs';
import { report } from './report.mjs';

report(async () => (await infer(await loading, { resident: false })).output());
