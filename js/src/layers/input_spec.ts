/** What a layer in JavaScript says of its inputs in `inputSpec`, and whether they are so. */
import { LatheError } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';

/** What an input must be; null and what is left out may be anything. */
export interface InputRule {
  dtype?: string | null | undefined;
  /** With the batch in front, which may have any size here. */
  shape?: readonly (number | null)[] | null | undefined;
  /** How many axes there are. */
  ndim?: number | null | undefined;
  maxNDim?: number | null | undefined;
  minNDim?: number | null | undefined;
  /** Sizes of axes, by their numbers. */
  axes?: Readonly<Record<number, number | null>> | null | undefined;
}

/** Of each input in order; one alone of the only one. */
export type InputRules = InputRule | readonly (InputRule | null)[] | null | undefined;

/** Error: an input is not as the layer says. */
export function checkInputs(layer: string, given: InputRules, inputs: readonly Tensor[]): void {
  const rules = [given ?? []].flat() as (InputRule | null)[];
  if (rules.length === 0) return;
  if (rules.length !== inputs.length) {
    throw new LatheError(
      `layer "${layer}" takes ${rules.length} inputs by its inputSpec, got ${inputs.length}`,
    );
  }
  inputs.forEach((x, at) => {
    const wrong = rules[at] == null ? undefined : unfit(rules[at], x);
    if (wrong === undefined) return;
    const got = `${x.dtype} [${x.shape.join(',')}]`;
    throw new LatheError(`layer "${layer}": input ${at} must have ${wrong}, got ${got}`);
  });
}

function unfit({ dtype, shape, axes, ...rule }: InputRule, x: Tensor): string | undefined {
  const { rank } = x;
  const ndim = shape?.length ?? rule.ndim;
  if (ndim != null && rank !== ndim) return `${ndim} axes`;
  if (rule.maxNDim != null && rank > rule.maxNDim) return `${rule.maxNDim} axes or less`;
  if (rule.minNDim != null && rank < rule.minNDim) return `${rule.minNDim} axes or more`;
  if (dtype != null && x.dtype !== dtype) return `the type ${dtype}`;
  for (const [name, size] of Object.entries({ ...shape, ...axes })) {
    const axis = Number(name) < 0 ? Number(name) + rank : Number(name);
    if (size != null && axis !== 0 && x.shape[axis] !== size) return `${size} along axis ${name}`;
  }
  return undefined;
}
