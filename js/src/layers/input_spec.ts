/** `inputSpec` of custom layers, and its check. */
import { LatheError } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';

/** Constraints on an input; null and omitted ones are not checked. */
export interface InputRule {
  dtype?: string | null | undefined;
  /** Batch first, whose size is not checked. */
  shape?: readonly (number | null)[] | null | undefined;
  /** Number of axes. */
  ndim?: number | null | undefined;
  maxNDim?: number | null | undefined;
  minNDim?: number | null | undefined;
  /** Sizes of axes, by axis index. */
  axes?: Readonly<Record<number, number | null>> | null | undefined;
}

/** One for each input in order, or a single one for the only input. */
export type InputRules = InputRule | readonly (InputRule | null)[] | null | undefined;

/** Error: an input violates the `inputSpec` of the layer. */
export function checkInputs(layer: string, spec: InputRules, inputs: readonly Tensor[]): void {
  const rules = [spec ?? []].flat() as (InputRule | null)[];
  if (rules.length === 0) return;
  if (rules.length !== inputs.length) {
    throw new LatheError(
      `layer "${layer}" expects ${rules.length} inputs by its inputSpec, got ${inputs.length}`,
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
