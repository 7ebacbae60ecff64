// Specs in a page: the subject, and what a spec file is run with.
import * as tf from 'tensorlathe/tfjs';
import { ownModules, partsOf } from './adapters.mjs';
import { runSpecFile } from './spec_file.mjs';

/** Loads the subject; `wanted`: the names that specs import of each module. */
window.loadSubject = async (wanted) => {
  await tf.ready();
  console.warn = () => {};
  const home = import.meta.resolve('tensorlathe/tfjs').replace(/\.js$/, '/');
  const load = async ([path, file]) => [path, await import(`${home}${file}.js`)];
  const parts = Object.fromEntries(await Promise.all(Object.entries(ownModules).map(load)));
  const settings = { backend: 'lathe' };
  globalThis[Symbol.for('tensorlathe.specs')] = partsOf({ tf, parts, wanted, settings });
};

/** Runs a file and gives what it sent. */
window.runSpecs = async (file, only) => {
  const sent = [];
  const send = (message) => sent.push(message);
  const load = () => import(`/build/tfjs-specs/${file}.js`);
  await runSpecFile({ jasmineRequire: window.jasmineRequire, file, only, load, send });
  return sent;
};
