/** Ourselves, from the weights to the first result. */
import { infer } from '../peers/tensorlathe.mjs';
import { loadModel, report } from './report.mjs';

report(async () => (await infer(await loadModel(), { resident: false, threads: 1 })).output());
