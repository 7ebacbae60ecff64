// Names that @tensorflow/tfjs-layers has and we do not: functions, members of classes, options. As a program it
// rewrites layers_missing.txt with --write; tests/js/node/layers/names.test.mjs fails where that list is wrong.
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

/** Their classes and options, and what those are here; a class follows its bases. */
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
    const rowOptions = row?.options ?? row?.parameters ?? [];
    return row && new Set([...common, ...rowOptions.map((each) => each.name)]);
  };
}

/** For each candidate: its qualified name, its function, class or options, and whether it exists here. */
function compared(has, candidates, of, qualified) {
  return [...candidates].map((name) => ({
    name: qualified(name),
    of: of(name),
    isThere: has.has(name),
  }));
}

/** All names of TensorFlow.js Layers: [{ name, of, isThere }]. */
export function comparedNames() {
  const theirs = new Declarations(folder('node_modules/@tensorflow/tfjs-layers/dist'));
  const ours = new Declarations(folder('js/dist'));
  const itself = (name) => name;
  const theirExports = exported.split(' ').filter((name) => tf[name] !== undefined);
  const names = compared(new Set(Object.keys(tl)), theirExports, itself, itself);
  for (const namespace of namespaces) {
    const ourNames = new Set(Object.keys(tl[namespace] ?? {}));
    const qualified = (name) => `${namespace}.${name}`;
    names.push(...compared(ourNames, Object.keys(tf[namespace]), qualified, qualified));
  }
  const visited = new Set();
  for (const [their, our] of Object.entries(classes)) {
    const has = ours.has(our) ? ours.members(our) : new Set();
    const base = [...visited].findLast((each) => theirs.bases(their).has(each));
    const newMembers = [...theirs.members(their)].filter(
      (name) => !base || !theirs.members(base).has(name),
    );
    names.push(
      ...compared(
        has,
        newMembers,
        () => their,
        (name) => `${their}: ${name}`,
      ),
    );
    visited.add(their);
  }
  for (const [their, our] of Object.entries(options)) {
    const has = ours.has(our) ? ours.members(our) : new Set();
    const qualified = (name) => `${their}{${name}}`;
    names.push(...compared(has, theirs.members(their), () => their, qualified));
  }
  for (const namespace of ['layers', 'initializers', 'regularizers', 'constraints']) {
    const optionsOf = tableOptions(ours, namespace);
    for (const name of Object.keys(tf[namespace])) {
      const [has, args] = [optionsOf(name), theirs.argument(name)];
      if (has === undefined || args === undefined || !theirs.has(args)) continue;
      const qualified = (option) => `${namespace}.${name}({${option}})`;
      names.push(...compared(has, theirs.members(args), () => `${namespace}.${name}`, qualified));
    }
  }
  return names;
}

/** Everything that is missing, sorted. */
export const missingNames = () =>
  comparedNames()
    .filter(({ isThere }) => !isThere)
    .map(({ name }) => name)
    .sort();

/** The names that are expected to be missing. */
export const expectedMissing = () => readFileSync(list, 'utf8').split('\n').filter(Boolean);

if (process.argv.includes('--write')) {
  const missing = missingNames();
  writeFileSync(list, missing.map((name) => `${name}\n`).join(''));
  console.log(`${missing.length} names are missing`);
}
