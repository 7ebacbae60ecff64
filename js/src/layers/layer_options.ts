/** Converts layer options of TensorFlow.js to those of the core. */
import { LatheError } from '../base/errors.js';
import { checkObject } from '../base/options.js';
import type { LayerArgs } from './base_args.js';
import { recurrentCells } from './layer_classes.js';

type Config = Record<string, unknown>;

/** Options that must be positive integers, or arrays of them. */
const positive = /^(units|filters|outputDim|kernelSize|poolSize|depthMultiplier|numTokens)$/;
/** Options that name a row of the core's tables. */
const namedConfigs = /([aA]ctivation|Initializer|Regularizer|Constraint)$/;
/** Values of options that are null, where null is not the default. */
const nulls: Config = { mergeMode: 'none' };

/** "L1L2" -> l1l2, "RandomNormal" -> randomNormal. */
const lower = (name: string) =>
  /^L\d/.test(name) ? name.toLowerCase() : name.slice(0, 1).toLowerCase() + name.slice(1);

/** Converts {className, config}, or the name of a class, to the core's format. */
function readNamedConfig(value: unknown): unknown {
  if (typeof value === 'string') return lower(value);
  const { className, config } = (value ?? {}) as { className?: unknown; config?: object };
  return typeof className === 'string' ? { name: lower(className), ...config } : value;
}

/** Error, with the text of TensorFlow.js: no positive integer. */
function checkSize(what: string, name: string, size: number): void {
  if (Number.isInteger(size) && size > 0) return;
  const expected =
    name === 'filters' && size <= 0
      ? "Expected filters to be a 'number' > 0"
      : `${name} must be a positive integer`;
  throw new LatheError(`${what}: ${expected}, got ${size}.`);
}

/**
 * The options of a layer of this class in the core's format; `what` is its factory in errors. Errors: sizes that are no positive
 * integers; an unsupported dtype.
 */
export function readOptions(what: string, className: string, args?: LayerArgs | null): LayerArgs {
  checkObject(`layers.${what}`, args ?? {});
  const isEmbedding = className === 'Embedding';
  const {
    dtype,
    inputDType,
    batchSize,
    implementation: _,
    ...options
  } = (args ?? {}) as LayerArgs & Config;
  const isDepthwise = className === 'DepthwiseConv2D';
  for (const each of [dtype, inputDType]) {
    if (each == null || ['float32', 'int32', 'bool'].includes(each)) continue;
    throw new LatheError(
      `layers.${what}: dtype must be float32, got ${String(each)}; models compute in it`,
    );
  }
  const result: Config = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || (value === null && !(name in nulls))) continue;
    // TensorFlow.js accepts these options and ignores them.
    if (isDepthwise && /^kernel[^S]/.test(name)) continue;
    const sizes = positive.test(name) ? [value].flat(2) : [];
    for (const size of sizes)
      if (Number.isFinite(size)) checkSize(`layers.${what}`, name, size as number);
    result[name] =
      value === null ? nulls[name] : namedConfigs.test(name) ? readNamedConfig(value) : value;
  }
  if (isEmbedding && Array.isArray(result.inputLength)) {
    const [length] = result.inputLength as (number | null)[];
    if (length == null) delete result.inputLength;
    else result.inputLength = length;
  }
  const { inputDim, inputLength } = result as LayerArgs;
  if (!isEmbedding && (inputDim !== undefined || inputLength !== undefined)) {
    delete result.inputDim;
    delete result.inputLength;
    const isSequence = inputLength !== undefined || className in recurrentCells;
    result.inputShape ??= isSequence ? [inputLength ?? null, inputDim ?? null] : [inputDim];
  }
  const { inputShape, batchInputShape } = result as LayerArgs;
  if (batchSize != null && inputShape !== undefined && batchInputShape === undefined) {
    result.batchInputShape = [batchSize, ...inputShape];
  }
  return result;
}
