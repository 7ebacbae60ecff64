/** Ourselves, from the weights to the first result. */
import { loading } from './model.mjs';
import { infer } from '../peers/tensorlathe.mjs';
import { report } from './report.mjs';

report(async () => (await infer(await loading, { resident: false, threads: 1 })).output());
