// Writes from the tables of the core what js/src knows of it: names, tables, element types, arguments of layers, operations.
// With --check it only says whether that would change them.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { lazy } from './lazy.mjs';

const operationTypes = {
  tensor: 'Operand',
  tensors: 'readonly Operand[]',
  flag: 'boolean',
  number: 'number',
  integer: 'number',
  integers: 'number | readonly number[]',
  pairs: 'readonly (readonly [number, number])[]',
  padding: `'valid' | 'same'`,
  dtype: 'DType',
};

/** The type of a layer's option by the type that the core gives it. */
const optionTypes = {
  flag: 'boolean',
  number: 'number',
  integer: 'number',
  shape: 'readonly number[]',
  sizes: 'number | readonly number[] | readonly (readonly number[])[]',
  text: 'string',
  layer: 'Layer',
  layers: 'readonly Layer[]',
};
/** Texts of which the core knows few. */
const optionTexts = {
  padding: `'valid' | 'same'`,
  mergeMode: `'concat' | 'sum' | 'mul' | 'ave' | 'none'`,
};
/** Options that may be left out although the core has no default for them. */
const optional =
  /^(strides|noiseShape|seed|inputLength|valueDim|outputShape|sharedAxes|.*(Regularizer|Constraint))$/;
/** Kinds of options that are a name of the core, or one with its parameters. */
const choices = ['Activation', 'Constraint', 'Initializer', 'Regularizer'];
const commonOptions = ['inputShape', 'name', 'trainable', 'activityRegularizer'];

const lathe = fileURLToPath(new URL('../../build/native/tools/lathe', import.meta.url));
const described = execFileSync(lathe, ['describe'], { encoding: 'utf8' }).trim();
const known = JSON.parse(described);
// What only files need comes last, and is no part of what a page loads.
const core = `${described.slice(0, described.indexOf(',"keras":'))}}`;
const mark = 'Written by js/scripts/generate.mjs; do not edit.';
const written = {
  'core/names.ts': renderNames(known),
  'core/tables.ts': renderTables(core),
  'layers/layer_args.ts': renderLayers(known.layers),
  'tensor/dtypes.ts': renderDTypes(known.dtypes),
  'trace/operations.ts': renderOperations(known.operations),
  '../../src/compile/training_driver.inc': await renderDriver(),
};
for (const [name, text] of Object.entries(written)) {
  const target = new URL(`../src/${name}`, import.meta.url);
  if (!process.argv.includes('--check')) {
    writeFileSync(target, text);
  } else if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    console.error(`js/src/${name} is stale; \`npm run generate -w js\` rewrites it`);
    process.exit(1);
  }
}

/** The driver of training modules as text for C++, which writes it beside them. */
async function renderDriver() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../src/standalone/beside.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    plugins: [lazy],
    write: false,
  });
  const text = outputFiles[0].text.replace(/^ *\/\/.*\n/gm, '');
  return `// ${mark}\nR"DRIVER(${text})DRIVER"\n`;
}

function renderTables(json) {
  return `/**
 * What the core knows, as data. ${mark}
 *
 * @module tensorlathe/tables
 */

/** A row of a table: a name, perhaps a short one, and parameters with their defaults. */
export interface TableRow {
  name: string;
  short: string;
  parameters: { name: string; default: unknown; words?: string[] }[];
}

/** An element type, its name in NumPy and TensorFlow.js, and the typed array that shows its elements. */
export interface DTypeRow {
  name: string;
  numpy: string;
  array: string;
}

/** A layer class, the name of its maker in \`tl.layers\`, and its options. */
export interface LayerRow {
  class: string;
  name: string;
  doc: string;
  options: { name: string; type: string; default: unknown }[];
}

/** An operation of \`tl.compile\` with its parameters; those with a default may be left out. */
export interface OperationRow {
  name: string;
  parameters: { name: string; type: string; default?: unknown }[];
}

export interface Tables {
  /** As are tags and operations: in the order of their codes. */
  dtypes: DTypeRow[];
  tags: string[];
  scalarOps: { name: string; arity: number; takes: string }[];
  operations: OperationRow[];
  activations: TableRow[];
  losses: TableRow[];
  optimizers: TableRow[];
  initializers: TableRow[];
  metrics: TableRow[];
  regularizers: TableRow[];
  constraints: TableRow[];
  layers: LayerRow[];
  /** Of the compiler, in the order they run: what \`dumps\` may ask for. */
  passes: string[];
  scheduleFields: string[];
}

export const tables: Tables = ${json.replaceAll('},{', '},\n{')};
`;
}

function kerasNames({ names }, wanted) {
  return names.filter(({ table }) => table === wanted);
}

function record(pairs) {
  const key = (name) => (/^\w+$/.test(name) ? name : `'${name}'`);
  return `{ ${pairs.map(([name, value]) => `${key(name)}: '${value}'`).join(', ')} }`;
}

function isTensor({ type }) {
  return type === 'tensor' || type === 'tensors';
}

function renderDTypes(dtypes) {
  const rows = (spell) => dtypes.map((each) => `  ${spell(each)},`);
  const bigints = dtypes.filter(({ array }) => array.startsWith('Big'));
  return [
    `/** Element types: their names, the typed arrays that hold them. ${mark} */`,
    '',
    '/** Element types, spelled as NumPy and TensorFlow.js do. */',
    `export type DType = ${dtypes.map(({ numpy }) => `'${numpy}'`).join(' | ')};`,
    '/** Those whose typed arrays hold bigints. */',
    `export type BigIntDType = ${bigints.map(({ numpy }) => `'${numpy}'`).join(' | ')};`,
    '/** The typed array of each; float16 and bfloat16 show the bits of their elements. */',
    'export interface DataTypeMap {',
    ...dtypes.map(({ numpy, array }) => `  ${numpy}: ${array};`),
    '}',
    '/** What the core calls them. */',
    'export const coreDTypes = {',
    ...rows(({ name, numpy }) => `${numpy}: '${name}'`),
    '} as const;',
    '/** The reverse of `coreDTypes`. */',
    'export const hostDTypes = {',
    ...rows(({ name, numpy }) => `${name}: '${numpy}'`),
    '} as const;',
    '/** The constructors of `DataTypeMap`. */',
    'export const arrayTypes = {',
    ...rows(({ numpy, array }) => `${numpy}: ${array}`),
    '} as const;',
    '',
  ].join('\n');
}

function renderNames(tables) {
  const { dtypes, tags, operations } = tables;
  const { activations, losses, metrics, optimizers, initializers } = tables;
  const { regularizers, constraints, scheduleFields } = tables;
  const classes = kerasNames(tables.keras, 'Optimizer').map((each) => [each.ours, each.theirs]);
  const alternatives = (words) => words.map((word) => `'${word}'`).join(' | ');
  const typeOf = ({ default: value, words }) =>
    words ? alternatives(words) : typeof value === 'boolean' ? 'boolean' : 'number';
  const union = (rows) => alternatives(rows.map(({ name }) => name));
  const shortened = (rows) =>
    alternatives(rows.flatMap((row) => (row.short === '' ? [row.name] : [row.name, row.short])));
  const list = (rows) => `[${rows.map(({ name }) => `'${name}'`).join(', ')}] as const`;
  const fields = ({ parameters }) =>
    parameters.map((each) => `${each.name}?: ${typeOf(each)}`).join('; ');
  const config = (row) =>
    `{ name: '${row.name}'${row.parameters.length > 0 ? `; ${fields(row)}` : ''} }`;
  const defaults = ({ name, parameters }) =>
    parameters.length === 0
      ? `The same as '${name}'.`
      : `Defaults: ${parameters.map((each) => `${each.name} ${each.default}`).join(', ')}.`;
  const argument = (each) => `${each.name}?: ${typeOf(each)}`;
  const factory = (what, kind, rows) => [
    `/** Makers of ${what}; parameters left out have their default. */`,
    `export interface ${kind}Factory {`,
    ...rows.flatMap((row) => [
      `  /** ${defaults(row)} */`,
      `  ${row.name}(${row.parameters.length > 0 ? `parameters?: { ${fields(row)} }` : ''}): ${kind}Config;`,
    ]),
    '}',
    `/** The ${what} by name. */`,
    `export const ${kind.toLowerCase()}Names = ${list(rows)};`,
    '',
  ];
  const spellings = ({ name, short }) => [name, short].filter(Boolean).map((each) => `'${each}'`);
  const parametersOf = (row) => `  ${row.name}: { ${fields(row)} };`;
  const row = ({ name, parameters }, code) => {
    const tensors = parameters.filter(isTensor);
    const many = tensors.some(({ type }) => type === 'tensors');
    const at = parameters.findIndex(({ type }) => type === 'dtype') - tensors.length;
    const dtype = at < 0 ? '' : `@${at}`;
    const scalar = tables.scalarOps[code];
    const takes = scalar === undefined ? '' : `:${scalar.takes}`;
    const count = many ? '/*' : tensors.length === 1 ? '' : `/${tensors.length}`;
    return `${name}${count}${dtype}${takes}`;
  };
  const parts = [
    `/** Names, parameters and defaults of the core. ${mark} */`,
    "import { operationRows } from './operation_rows.js';",
    '',
    '/** Names of the activations. */',
    `export type ActivationName = ${union(activations)};`,
    '/** Names of the losses. */',
    `export type LossName = ${shortened(losses)};`,
    '/** Names of the metrics; every loss is one, too. */',
    `export type MetricName = LossName | ${shortened(metrics)};`,
    '/** Names of the optimisers. */',
    `export type OptimizerName = ${union(optimizers)};`,
    '/** Names of the initialisers. */',
    `export type InitializerName = ${union(initializers)};`,
    '/** Names of the regularisers. */',
    `export type RegularizerName = ${union(regularizers)};`,
    '/** Names of the constraints. */',
    `export type ConstraintName = ${union(constraints)};`,
    '',
    '/** An activation with its parameters. */',
    `export type ActivationConfig =\n${activations.map((row) => `  | ${config(row)}`).join('\n')};`,
    '/** An optimiser with its parameters. */',
    `export type OptimizerConfig =\n${optimizers.map((row) => `  | ${config(row)}`).join('\n')};`,
    '/** An initialiser with its parameters. */',
    `export type InitializerConfig =\n${initializers.map((row) => `  | ${config(row)}`).join('\n')};`,
    '/** A regulariser with its parameters. */',
    `export type RegularizerConfig =\n${regularizers.map((row) => `  | ${config(row)}`).join('\n')};`,
    '/** A constraint with its parameters. */',
    `export type ConstraintConfig =\n${constraints.map((row) => `  | ${config(row)}`).join('\n')};`,
    '',
    '/** Makers of optimisers; parameters left out have their default. */',
    'export interface TrainFactory {',
    ...optimizers.flatMap((row) => [
      `  /** ${defaults(row)} */`,
      `  ${row.name}(${row.parameters.map(argument).join(', ')}): OptimizerConfig;`,
    ]),
    '}',
    ...factory('initialisers', 'Initializer', initializers),
    ...factory('activations', 'Activation', activations),
    ...factory('regularisers', 'Regularizer', regularizers),
    ...factory('constraints', 'Constraint', constraints),
    '/** Parameters of losses and of metrics. */',
    'export interface LossParameters {',
    ...losses.filter(({ parameters }) => parameters.length > 0).map(parametersOf),
    '}',
    'export interface MetricParameters extends LossParameters {',
    ...metrics.filter(({ parameters }) => parameters.length > 0).map(parametersOf),
    '}',
    '',
    '/** The losses by name, and what metrics there are beside them. */',
    `export const lossNames = [${losses.flatMap(spellings).join(', ')}] as const;`,
    `export const metricNames = [${metrics.flatMap(spellings).join(', ')}] as const;`,
    '/** The optimisers by name, each with the names of its parameters in the order of its maker. */',
    'export const optimizerParameters = {',
    ...optimizers.map(
      ({ name, parameters }) =>
        `  ${name}: { ${parameters.map((each) => `${each.name}: ${each.default}`).join(', ')} },`,
    ),
    '} as const;',
    '/** Optimisers whose class in TensorFlow.js is no rule. */',
    `export const optimizerClasses: Record<string, string> = ${record(classes)};`,
    '/** The fields of a schedule. */',
    `export const scheduleFields = [${scheduleFields.map((name) => `'${name}'`).join(', ')}] as const;`,
    '/** The element types, in the order of their codes. */',
    `export const dtypes = ${list(dtypes)};`,
    '/** Bytes of an element of each type. */',
    'export const dtypeBytes = {',
    ...dtypes.map(({ name, array }) => `  ${name}: ${globalThis[array].BYTES_PER_ELEMENT},`),
    '} as const;',
    '/** How values begin that are told in words. */',
    'export const tags = {',
    ...tags.map((name, code) => `  ${name}: ${code},`),
    '} as const;',
    '/** Names of the operations. */',
    `export type OperationName = ${union(operations)};`,
    '/** The operations. */',
    'export const operations = /* @__PURE__ */ operationRows<OperationName>(',
    `  '${operations.map(row).join(' ')}',`,
    ');',
    '',
  ];
  return parts.join('\n');
}

function renderLayers(layers) {
  const isRequired = (each) => each.default === null && !optional.test(each.name);
  const own = ({ options }) => options.filter((each) => !commonOptions.includes(each.name));
  const type = (each) => {
    if (each.type === 'text') return optionTexts[each.name] ?? 'string';
    if (each.type !== 'choice') return optionTypes[each.type];
    const kind = choices.find((kind) => each.name.toLowerCase().endsWith(kind.toLowerCase()));
    return `${kind}Name | ${kind}Config`;
  };
  const standard = ({ default: value }) =>
    value === null ? [] : [`  /** Default: ${Array.isArray(value) ? `[${value}]` : value}. */`];
  const argumentsOf = (layer) => [
    `/** Arguments of \`layers.${layer.name}\`. */`,
    `export interface ${layer.class}Args extends LayerArgs {`,
    ...own(layer).flatMap((each) => [
      ...standard(each),
      `  ${each.name}${isRequired(each) ? '' : '?'}: ${type(each)};`,
    ]),
    '}',
  ];
  const maker = (layer) => {
    const args = own(layer).some(isRequired) ? 'args' : 'args?';
    return [`  /** ${layer.doc} */`, `  ${layer.name}(${args}: ${layer.class}Args): Layer;`];
  };
  return [
    `/** The layers of the core: arguments, makers, classes. ${mark} */`,
    'import type {',
    ...choices.flatMap((kind) => [`  ${kind}Config,`, `  ${kind}Name,`]),
    "} from '../core/names.js';",
    "import type { Layer, LayerArgs } from './layer.js';",
    '',
    ...layers.flatMap(argumentsOf),
    '/** Makers of layers. Errors come where the layer is called or added to a model. */',
    'export interface LayerFactory {',
    ...layers.flatMap(maker),
    '}',
    '/** The classes of the layers by the names of their makers. */',
    'export const layerClasses = {',
    ...layers.map((layer) => `  ${layer.name}: '${layer.class}',`),
    '} as const;',
    '',
  ].join('\n');
}

function renderOperations(operations) {
  const argument = (each) =>
    `${each.name}${'default' in each ? '?' : ''}: ${operationTypes[each.type]}`;
  const spelled = ({ name, parameters }) => {
    const list = parameters.map((each) =>
      'default' in each ? `${each.name} = ${JSON.stringify(each.default)}` : each.name,
    );
    return `${name}(${list.join(', ')})`;
  };
  const method = ({ parameters: [first, ...rest] }) => {
    const others = first.type === 'tensors' ? ['others: O | readonly O[]'] : [];
    return [...others, ...rest.map(argument)].join(', ').replaceAll('Operand', 'O');
  };
  return [
    `/** The operations of the core as functions and methods. ${mark} */`,
    "import type { DType } from '../tensor/dtypes.js';",
    "import type { Operand, TracedTensor } from './trace.js';",
    '',
    '/** Every operation as a function of its tensors; parameters left out have their default. */',
    'export interface OperationFunctions {',
    ...operations.flatMap((each) => [
      `  /** ${spelled(each)} */`,
      `  ${each.name}(${each.parameters.map(argument).join(', ')}): TracedTensor;`,
    ]),
    '}',
    '/** Every operation as a method of its first tensor, a T; the others are each an O. R: the rank that a program knows. */',
    'export interface OperationMethods<T, O> {',
    ...operations
      .filter(({ name }) => name !== 'where')
      .flatMap((each) => [
        `  /** ${spelled(each)} */`,
        `  ${each.name}<R extends T = T>(${method(each)}): R;`,
      ]),
    '  /** where(condition, this, b): the condition comes first, as in TensorFlow.js. */',
    '  where<R extends T = T>(condition: O, b: O): R;',
    '}',
    '',
  ].join('\n');
}
