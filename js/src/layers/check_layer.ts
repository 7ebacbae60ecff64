/** Checks of layer options when a layer is created, by the rules of TensorFlow.js. */
import { LatheError, reasonOf } from '../base/errors.js';
import { stringifyJson } from '../base/json.js';
import { checkOptions, nearest } from '../base/options.js';
import { tables } from '../core/tables.js';
import type { LayerArgs } from './base_args.js';
import { Layer } from './layer.js';
import type { LayerClass } from './layer_classes.js';
import { type ConfigKind, kindOf, windows } from './layer_config.js';
import { layerRow } from './layer_row.js';

type Config = Record<string, unknown>;

/** Required options. */
const required =
  /^(units|cropping|filters|kernelSize|targetShape|dims|n|inputDim|outputDim|cell|cells|layer|numTokens|height|width|numHeads|keyDim)$/;
/** Permitted values of string options. */
const words: Record<string, string> = {
  padding: 'valid same causal',
  dataFormat: 'channelsFirst channelsLast',
  interpolation: 'nearest bilinear',
  mergeMode: 'concat sum mul ave none',
  outputMode: 'multiHot oneHot count',
};

const printed = (value: unknown) =>
  value instanceof Layer
    ? value.label
    : typeof value === 'number'
      ? String(value)
      : stringifyJson(value);

type Rule = [option: RegExp, fits: (value: unknown) => boolean, message: string];

const notCausal: Rule = [/^padding$/, (value) => value !== 'causal', 'must be valid or same'];
const integers = 'must be an integer or an array of them';
const sides = 'must be an integer, two, or two pairs';

/** Rules for options of single classes. */
const rules: { [Class in LayerClass]?: Rule[] } = {
  Conv2DTranspose: [notCausal],
  Conv3DTranspose: [notCausal],
  SeparableConv2D: [
    notCausal,
    [
      /^kernel(Initializer|Regularizer|Constraint)$/,
      () => false,
      'is not an option: set depthwise and pointwise instead',
    ],
  ],
  LayerNormalization: [[/^axis$/, areIntegers, integers]],
  PReLU: [[/^sharedAxes$/, areIntegers, integers]],
  Permute: [[/^dims$/, isPermutation, 'must be a permutation of all axes, starting at 1']],
  ZeroPadding2D: [[/^padding$/, areSides, sides]],
  Cropping2D: [[/^cropping$/, areSides, sides]],
  Embedding: [[/^inputDim$/, (value) => (value as number) > 0, 'must be a positive integer']],
  ConvLSTM2D: [[/^unroll$/, (value) => value !== true, 'cannot be true: steps are a loop']],
};

function areIntegers(value: unknown): boolean {
  return [value].flat().every(Number.isInteger);
}

function isPermutation(value: unknown): boolean {
  return Array.isArray(value) && value.every((_, at) => value.includes(at + 1));
}

function areSides(value: unknown): boolean {
  const isPair = (each: unknown) => Array.isArray(each) && each.length === 2 && areIntegers(each);
  if (!Array.isArray(value)) return Number.isInteger(value);
  return isPair(value) || (value.length === 2 && value.every(isPair));
}

/** Error: an array that does not have two sizes, for height and width. */
function checkPairs(what: string, options: Config): void {
  for (const name of ['kernelSize', 'strides', 'dilationRate', 'poolSize', 'padding']) {
    const sizes = options[name];
    if (!Array.isArray(sizes) || sizes.length === 2) continue;
    throw new LatheError(
      `layers.${what}: ${name} argument must be an integer or tuple of 2 integers, expected to have a length of 2, got ${JSON.stringify(sizes)}`,
    );
  }
}

/** Names as `checkOptions` reads them. */
const namesOf = (rows: readonly { name: string }[]) =>
  Object.fromEntries(rows.map(({ name }) => [name, true as const]));

/** Warnings about ignored options, each shown once; undefined where these are errors. */
let shown: Set<string> | undefined;

/** Ignores unknown options of layers and initializers with a warning, as programs for TensorFlow.js may have some. */
export function ignoreUnknownOptions(): void {
  shown ??= new Set();
}

/** Removes unknown options. Error: there is one, unless they are ignored. */
function checkNames(factory: string, args: Config, supported: readonly { name: string }[]): void {
  for (const name of Object.keys(args)) {
    if (/^(batchInputShape|weights)$/.test(name)) continue;
    try {
      checkOptions(factory, { [name]: args[name] }, namesOf(supported));
    } catch (error) {
      if (shown === undefined) throw error;
      delete args[name];
      const warning = `tensorlathe: ignored, as in TensorFlow.js: ${reasonOf(error)}`;
      if (!shown.has(warning)) console.warn(warning);
      shown.add(warning);
    }
  }
}

/** Checks the options of a layer class; unknown ones that are ignored are removed. Errors: an unknown, missing or invalid option. */
export function checkLayer(factory: string, className: string, options: LayerArgs): void {
  const args = options as Config;
  const fail = (name: string, what: string): never => {
    const [space, end] = /^:|\.$/.test(what)
      ? [what.startsWith(':') ? '' : ' ', '']
      : [' ', `, got ${printed(args[name]) ?? 'nothing'}`];
    throw new LatheError(`layers.${factory}: ${name}${space}${what}${end}`);
  };
  const { options: supported = [], axes = 0 } = layerRow(className);
  if (axes === 2) checkPairs(factory, args);
  for (const [option, fits, what] of rules[className as LayerClass] ?? []) {
    const [wrong] = Object.keys(args).filter((name) => option.test(name) && !fits(args[name]));
    if (wrong !== undefined) fail(wrong, what);
  }
  checkNames(`layers.${factory}`, args, supported);
  for (const { name, type } of supported) {
    const value = args[name];
    if (value !== undefined) checkOption(name, type, value, axes, (what) => fail(name, what));
    else if (name === 'filters')
      throw new LatheError(`layers.${factory}: Expected filters to be a 'number' > 0, got nothing`);
    else if (required.test(name)) throw new LatheError(`layers.${factory}: ${name} is needed`);
  }
}

function checkOption(
  name: string,
  type: string,
  value: unknown,
  axes: number,
  fail: (what: string) => never,
): void {
  const kind = kindOf(name);
  if (kind !== undefined) checkNamedConfig(kind, value, fail);
  else if (type === 'text' && name in words) {
    const all = words[name]!.split(' ');
    if (!all.includes(value as string))
      fail(`must be ${all.map((each) => JSON.stringify(each)).join(' or ')}`);
  } else if (windows.test(name)) checkWindow(value, axes, fail);
  else if (name === 'inputLength') {
    if (![value].flat().every((each) => each === null || Number.isInteger(each)))
      fail('must be an integer or an array of them');
  } else if (type === 'integer' && !Number.isInteger(value)) fail('must be an integer');
  else if (type === 'number' && typeof value !== 'number') fail('must be a number');
  else if (type === 'layer' && !isLayer(value)) fail('must be a layer');
  else if (type === 'layers' && !(Array.isArray(value) && value.length > 0 && value.every(isLayer)))
    fail('must be an array of layers');
}

const isLayer = (value: unknown) =>
  value instanceof Layer || typeof (value as { class?: unknown } | null)?.class === 'string';
function checkNamedConfig(kind: ConfigKind, value: unknown, fail: (what: string) => never): void {
  const name = typeof value === 'string' ? value : (value as { name?: unknown } | null)?.name;
  const plain = (each: string) => each.replaceAll('_', '').toLowerCase();
  const names = (tables[kind] as { name: string }[]).map((each) => each.name);
  if (typeof name !== 'string') fail('must be a name or a config object');
  else if (!names.some((each) => plain(each) === plain(name))) {
    const near = nearest(name, names);
    const hint = near === undefined ? '' : `did you mean "${near}"? `;
    fail(`: unknown ${kind.slice(0, -1)} "${name}"; ${hint}known: ${names.join(', ')}`);
  }
}

function checkWindow(value: unknown, axes: number, fail: (what: string) => never): void {
  const sizes = [value].flat();
  if (!sizes.every((each) => Number.isInteger(each) && (each as number) > 0))
    fail(`must be a positive integer, or an array of them: got ${sizes.join()}.`);
  if (Array.isArray(value) && axes > 0 && value.length !== axes)
    fail(
      `argument must be an integer or tuple of ${axes} integers, expected to have a length of ${axes}`,
    );
}

/** Checks the parameters of an initializer, regularizer, constraint or activation, as `checkLayer`. Errors: not an object; an unknown or invalid one. */
export function checkParameters(factory: string, parameters: unknown): void {
  const fail = (what: string): never => {
    throw new LatheError(`${factory}: ${what}, got ${JSON.stringify(parameters)}`);
  };
  if (parameters == null) {
    if (factory === 'constant') fail('an object with a value is needed');
    return;
  }
  if (typeof parameters !== 'object') fail('an object is needed');
  const { initializers, regularizers, constraints, activations } = tables;
  const row = [...initializers, ...regularizers, ...constraints, ...activations].find(
    ({ name }) => name === factory,
  )!;
  const args = parameters as Config;
  checkNames(factory, args, row.parameters);
  if (factory === 'constant' && typeof args.value !== 'number') fail('value must be a number');
  if (factory !== 'varianceScaling') return;
  const { scale = 1, mode = 'fanIn', distribution = 'normal' } = args;
  if (!((scale as number) > 0)) fail('scale must be positive');
  for (const { name, words: all } of row.parameters) {
    const value = { mode, distribution }[name];
    if (all !== undefined && !all.includes(value as string))
      fail(`${name} must be one of ${all.join(', ')}`);
  }
}
