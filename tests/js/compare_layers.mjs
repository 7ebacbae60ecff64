// What @tensorflow/tfjs-layers has by name and we do not: functions, members of classes, options. As a program it
// rewrites the list beside it with --write; tests/js/node/layers_names.test.mjs fails where the list is not right.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { tables } from 'tensorlathe/tables';
import { Declarations } from './declarations.mjs';

const list = new URL('layers_missing.txt', import.meta.url);
const folder = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Namespaces of functions; '' is the package itself, of which all but tensors and their operations. */
const namespaces =
  'layers models train losses metrics initializers regularizers constraints callbacks'.split(' ');
const exported =
  'model sequential input loadLayersModel registerCallbackConstructor LayersModel Sequential RNN SymbolicTensor ' +
  'LayerVariable InputSpec Callback CallbackList CustomCallback EarlyStopping History version_layers tensor ' +
  'tensor1d tensor2d tensor3d tensor4d tensor5d tensor6d scalar zeros ones oneHot print tidy dispose memory';

/** Their classes and options, and what those are here; a class comes behind its bases. */
const classes = {
  Layer: 'Layer',
  LayersModel: 'LayersModel',
  Sequential: 'Sequential',
  SymbolicTensor: 'SymbolicTensor',
  BaseCallback: 'Callback',
  CustomCallback: 'CustomCallback',
  EarlyStopping: 'EarlyStopping',
  History: 'History',
  LayerVariable: 'LayerVariable',
};
const options = {
  ContainerArgs: 'ModelArgs',
  SequentialArgs: 'SequentialArgs',
  InputConfig: 'InputArgs',
  ModelCompileArgs: 'CompileArgs',
  ModelFitArgs: 'FitArgs',
  ModelFitDatasetArgs: 'FitDatasetArgs',
  ModelEvaluateArgs: 'EvaluateArgs',
  ModelEvaluateDatasetArgs: 'EvaluateDatasetArgs',
  ModelPredictArgs: 'PredictArgs',
  EarlyStoppingCallbackArgs: 'EarlyStoppingArgs',
};

/** Options by the name of the function, as the tables of the core have them. */
function tableOptions(ours, namespace) {
  const common = namespace === 'layers' ? [...ours.members('LayerArgs')] : [];
  return (name) => {
    const row = tables[namespace].find((each) => (each.maker ?? each.name) === name);
    const own = row?.options ?? row?.parameters ?? [];
    return row && new Set([...common, ...own.map((each) => each.name)]);
  };
}

function missingIn(has, wanted, spell) {
  return [...wanted].filter((name) => !has.has(name)).map(spell);
}

/** Everything that is missing, sorted. */
export function missingNames() {
  const theirs = new Declarations(folder('node_modules/@tensorflow/tfjs-layers/dist'));
  const ours = new Declarations(folder('js/dist'));
  const missing = exported.split(' ').filter((name) => tf[name] !== undefined && !(name in tl));
  for (const namespace of namespaces) {
    const own = new Set(Object.keys(tl[namespace] ?? {}));
    missing.push(...missingIn(own, Object.keys(tf[namespace]), (name) => `${namespace}.${name}`));
  }
  const told = new Set();
  for (const [their, our] of Object.entries(classes)) {
    const has = ours.has(our) ? ours.members(our) : new Set();
    const base = [...told].findLast((each) => theirs.bases(their).has(each));
    const own = [...theirs.members(their)].filter(
      (name) => !base || !theirs.members(base).has(name),
    );
    missing.push(...missingIn(has, own, (name) => `${their}: ${name}`));
    told.add(their);
  }
  for (const [their, our] of Object.entries(options)) {
    const has = ours.has(our) ? ours.members(our) : new Set();
    missing.push(...missingIn(has, theirs.members(their), (name) => `${their}{${name}}`));
  }
  for (const namespace of ['layers', 'initializers', 'regularizers', 'constraints']) {
    const optionsOf = tableOptions(ours, namespace);
    for (const name of Object.keys(tf[namespace])) {
      const [has, args] = [optionsOf(name), theirs.argument(name)];
      if (has === undefined || args === undefined || !theirs.has(args)) continue;
      const spell = (option) => `${namespace}.${name}({${option}})`;
      missing.push(...missingIn(has, theirs.members(args), spell));
    }
  }
  return missing.sort();
}

/** Those that are known to be missing. */
export const knownMissing = () => readFileSync(list, 'utf8').split('\n').filter(Boolean);

if (process.argv.includes('--write')) {
  const missing = missingNames();
  writeFileSync(list, missing.map((name) => `${name}\n`).join(''));
  console.log(`${missing.length} names are missing`);
}
