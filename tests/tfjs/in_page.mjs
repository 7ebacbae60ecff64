// Specs in a page: the subject, and what a spec file is run with.
import * as tf from 'tensorlathe/tfjs';
import { packageModules, partsOf } from './adapters.mjs';
import { runSpecFile } from './spec_file.mjs';

/** Loads the subject; `requiredNames`: the names that specs import from each module. */
window.loadSubject = async (requiredNames) => {
  await tf.ready();
  console.warn = () => {};
  const home = import.meta.resolve('tensorlathe/tfjs').replace(/\.js$/, '/');
  const load = async ([path, file]) => [path, await import(`${home}${file}.js`)];
  const parts = Object.fromEntries(await Promise.all(Object.entries(packageModules).map(load)));
  const settings = { backend: 'lathe' };
  globalThis[Symbol.for('tensorlathe.specs')] = partsOf({ tf, parts, requiredNames, settings });
};

/** Runs a file and returns its messages. */
window.runSpecs = async (file, only) => {
  const sent = [];
  const send = (message) => sent.push(message);
  const load = () => import(`/build/tfjs-specs/${file}.js`);
  await runSpecFile({ jasmineRequire: window.jasmineRequire, file, only, load, send });
  return sent;
};
