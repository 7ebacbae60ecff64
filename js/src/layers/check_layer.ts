/** Options of layers checked when a layer is made, with what TensorFlow.js asks of them. */
import { LatheError } from '../base/errors.js';
import { jsonText } from '../base/json.js';
import { nearest } from '../base/options.js';
import { tables } from '../core/tables.js';
import type { LayerArgs } from './layer.js';
import { Layer } from './layer.js';
import { type Kind, kindOf } from './layer_config.js';

type Config = Record<string, unknown>;

/** Options without which a layer cannot be. */
const required =
  /^(units|cropping|filters|kernelSize|targetShape|dims|n|inputDim|outputDim|cell|cells|layer|numTokens|height|width|numHeads|keyDim)$/;
/** Texts that an option may be. */
const words: Record<string, string> = {
  padding: 'valid same causal',
  dataFormat: 'channelsFirst channelsLast',
  interpolation: 'nearest bilinear',
  mergeMode: 'concat sum mul ave none',
  outputMode: 'multiHot oneHot count',
};
/** Options with a size for each axis of a window. */
const windows = /^(kernelSize|strides|poolSize|dilationRate)$/;

const told = (value: unknown) =>
  value instanceof Layer
    ? value.label
    : typeof value === 'number'
      ? String(value)
      : jsonText(value);

/** What TensorFlow.js asks of options of some classes: class and option, what a value must be, and the words for it. */
const rules: [RegExp, RegExp, (value: unknown) => boolean, string][] = [
  [/Transpose$|^Separable/, /^padding$/, (value) => value !== 'causal', 'must be valid or same'],
  [
    /^Separable/,
    /^kernel(Initializer|Regularizer|Constraint)$/,
    () => false,
    'is that of depthwise and pointwise',
  ],
  [/^LayerNormalization$/, /^axis$/, areIntegers, 'must be an integer or an array of them'],
  [/^PReLU$/, /^sharedAxes$/, areIntegers, 'must be an integer or an array of them'],
  [/^Permute$/, /^dims$/, isPermutation, 'must be an array of all axes, counted from 1'],
  [
    /^(ZeroPadding|Cropping)2D$/,
    /^(padding|cropping)$/,
    areSides,
    'must be an integer, two, or two pairs',
  ],
  [/^Embedding$/, /^inputDim$/, (value) => (value as number) > 0, 'must be a positive integer'],
  [/^ConvLSTM2D$/, /^unroll$/, (value) => value !== true, 'cannot be true: steps are a loop'],
];

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

/** Error: a list of one size for height and width. */
function checkPairs(what: string, options: Config): void {
  for (const name of ['kernelSize', 'strides', 'dilationRate', 'poolSize', 'padding']) {
    const sizes = options[name];
    if (!Array.isArray(sizes) || sizes.length === 2) continue;
    throw new LatheError(
      `layers.${what}: ${name} argument must be an integer or tuple of 2 integers, expected to have a length of 2, got ${JSON.stringify(sizes)}`,
    );
  }
}

/** Error: an option is missing or none that the class takes. */
export function checkLayer(maker: string, className: string, options: LayerArgs): void {
  const given = options as Config;
  const fail = (name: string, what: string): never => {
    const [space, end] = /^:|\.$/.test(what)
      ? [what.startsWith(':') ? '' : ' ', '']
      : [' ', `, got ${told(given[name]) ?? 'nothing'}`];
    throw new LatheError(`layers.${maker}: ${name}${space}${what}${end}`);
  };
  if (/2d/i.test(maker)) checkPairs(maker, given);
  for (const [classes, option, fits, what] of rules) {
    if (!classes.test(className)) continue;
    const [wrong] = Object.keys(given).filter((name) => option.test(name) && !fits(given[name]));
    if (wrong !== undefined) fail(wrong, what);
  }
  const rank = Number(/([123])D/.exec(className)?.[1] ?? 0);
  const { options: known } = tables.layers.find((each) => each.class === className)!;
  const isOption = (name: string) => known.some((each) => each.name === name);
  for (const { name, type } of known) {
    const value = given[name];
    if (value !== undefined) checkOption(name, type, value, rank, (what) => fail(name, what));
    else if (required.test(name)) {
      const meant = Object.keys(given).find((each) => !isOption(each) && nearest(each, [name]));
      if (meant === undefined && name === 'filters')
        throw new LatheError(`layers.${maker}: Expected filters to be a 'number' > 0, got nothing`);
      if (meant === undefined) fail(name, `is needed: required key '${name}' not in config`);
      const hint = `unknown key "${meant}"; did you mean "${name}"?`;
      throw new LatheError(`layers.${maker}: ${hint}`);
    }
  }
}

function checkOption(
  name: string,
  type: string,
  value: unknown,
  rank: number,
  fail: (what: string) => never,
): void {
  const kind = kindOf(name);
  if (kind !== undefined) checkChoice(kind, value, fail);
  else if (type === 'text' && name in words) {
    const all = words[name]!.split(' ');
    if (!all.includes(value as string))
      fail(`must be ${all.map((each) => JSON.stringify(each)).join(' or ')}`);
  } else if (windows.test(name)) checkWindow(value, rank, fail);
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
function checkChoice(kind: Kind, value: unknown, fail: (what: string) => never): void {
  const name = typeof value === 'string' ? value : (value as { name?: unknown } | null)?.name;
  const plain = (each: string) => each.replaceAll('_', '').toLowerCase();
  const names = (tables[kind] as { name: string }[]).map((each) => each.name);
  if (typeof name !== 'string') fail('must be a name, or what its maker gives');
  else if (!names.some((each) => plain(each) === plain(name))) {
    const near = nearest(name, names);
    const hint = near === undefined ? '' : `did you mean "${near}"? `;
    fail(`: unknown ${kind.slice(0, -1)} "${name}"; ${hint}known: ${names.join(', ')}`);
  }
}

function checkWindow(value: unknown, rank: number, fail: (what: string) => never): void {
  const sizes = [value].flat();
  if (!sizes.every((each) => Number.isInteger(each) && (each as number) > 0))
    fail(`must be a positive integer, or an array of them: got ${sizes.join()}.`);
  if (Array.isArray(value) && rank > 0 && value.length !== rank)
    fail(
      `argument must be an integer or tuple of ${rank} integers, expected to have a length of ${rank}`,
    );
}

/** Error: parameters of an initialiser and the like that are no object, or wrong. */
export function checkParameters(maker: string, parameters: unknown): void {
  const fail = (what: string): never => {
    throw new LatheError(`${maker}: ${what}, got ${JSON.stringify(parameters)}`);
  };
  if (parameters == null) {
    if (maker === 'constant') fail('an object with a value is needed');
    return;
  }
  if (typeof parameters !== 'object') fail('an object is needed');
  const given = parameters as Config;
  if (maker === 'constant' && typeof given.value !== 'number') fail('value must be a number');
  if (maker !== 'varianceScaling') return;
  const { scale = 1, mode = 'fanIn', distribution = 'normal' } = given;
  if (!((scale as number) > 0)) fail('scale must be positive');
  for (const { name, words: all } of tables.initializers.find(({ name }) => name === maker)!
    .parameters) {
    const value = { mode, distribution }[name];
    if (all !== undefined && !all.includes(value as string))
      fail(`${name} must be one of ${all.join(', ')}`);
  }
}
