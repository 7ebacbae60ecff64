/** Ourselves, from the weights to the first result. */
import { compile, env, ready, tune } from 'tensorlathe';
import { loading } from './model.mjs';
import { infer } from '../peers/drive.mjs';
import { report } from './report.mjs';

// What is named one by one can be shaken from the tree.
const compiler = { compile, env, tune };

report(async () => {
  const [model] = await Promise.all([loading, ready()]);
  return (await infer(compiler, model, { resident: false, threads: 1 })).output();
});
