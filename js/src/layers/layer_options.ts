/** Options of layers as programs for TensorFlow.js give them -> those that the core knows. Knows no layer. */
import { LatheError } from '../base/errors.js';
import type { LayerArgs } from './layer.js';

type Config = Record<string, unknown>;

/** Options that must be positive integers, or lists of them, wherever they are. */
const positive = /^(units|filters|outputDim|kernelSize|poolSize|depthMultiplier|numTokens)$/;
/** Options that name a row of the core's tables. */
const choices = /([aA]ctivation|Initializer|Regularizer|Constraint)$/;
/** What null stands for, where it is not the default. */
const nulls: Config = { mergeMode: 'none' };

/** "L1L2" -> l1l2, "RandomNormal" -> randomNormal. */
const lower = (name: string) =>
  /^L\d/.test(name) ? name.toLowerCase() : name.slice(0, 1).toLowerCase() + name.slice(1);

/** {className, config}, or the name of a class, as the core's words. */
function readChoice(value: unknown): unknown {
  if (typeof value === 'string') return lower(value);
  const { className, config } = (value ?? {}) as { className?: unknown; config?: object };
  return typeof className === 'string' ? { name: lower(className), ...config } : value;
}

/** Error unless it is a positive integer, in the words of TensorFlow.js. */
function checkSize(what: string, name: string, size: number): void {
  if (Number.isInteger(size) && size > 0) return;
  const wanted =
    name === 'filters' && size <= 0
      ? "Expected filters to be a 'number' > 0"
      : `${name} must be a positive integer`;
  throw new LatheError(`${what}: ${wanted}, got ${size}.`);
}

/**
 * The arguments of a layer of the core. Errors: units, filters and the like that are no positive integers; a
 * dtype that models do not have.
 */
export function readOptions(what: string, given?: LayerArgs | null): LayerArgs {
  const isEmbedding = what === 'embedding';
  const {
    dtype,
    inputDType,
    batchSize,
    implementation: _,
    ...options
  } = (given ?? {}) as LayerArgs & Config;
  const isDepthwise = what.startsWith('depthwise');
  for (const each of [dtype, inputDType]) {
    if (each == null || ['float32', 'int32', 'bool'].includes(each)) continue;
    throw new LatheError(
      `layers.${what}: dtype must be float32, got ${String(each)}; models compute in it`,
    );
  }
  const result: Config = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || (value === null && !(name in nulls))) continue;
    // TensorFlow.js takes them, and has kernels of other names.
    if (isDepthwise && /^kernel[^S]/.test(name)) continue;
    const sizes = positive.test(name) ? [value].flat(2) : [];
    for (const size of sizes)
      if (Number.isFinite(size)) checkSize(`layers.${what}`, name, size as number);
    result[name] = value === null ? nulls[name] : choices.test(name) ? readChoice(value) : value;
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
    const isSequence = inputLength !== undefined || /rnn|lstm|gru/i.test(what);
    result.inputShape ??= isSequence ? [inputLength ?? null, inputDim ?? null] : [inputDim];
  }
  const { inputShape, batchInputShape } = result as LayerArgs;
  if (batchSize != null && inputShape !== undefined && batchInputShape === undefined) {
    result.batchInputShape = [batchSize, ...inputShape];
  }
  return result;
}
