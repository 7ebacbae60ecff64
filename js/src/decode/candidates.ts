/** Which models may be decoders, by their declared types. What runs decoders is loaded only for these. */

/** A dimension of an input or output: a number, a name, or unknown. */
export type Dimension = number | string | null;

/** Type of an input or output, as the model declares it. */
export interface Signature {
  name: string;
  /** Element type; undefined: it is no tensor. */
  type?: string;
  shape?: readonly Dimension[];
}

/** Types of a model's inputs and outputs. */
export interface Signatures {
  readonly inputs: readonly Signature[];
  readonly outputs: readonly Signature[];
}

/** Open axes other than the batch, which is the first axis or has the name of one. */
export function openAxes({ inputs }: Signatures, { shape = [] }: Signature): number[] {
  const batches = new Set(inputs.map((each) => each.shape?.[0]));
  return [...shape.keys()].filter((axis) => {
    const size = shape[axis];
    return axis > 0 && typeof size !== 'number' && (size === null || !batches.has(size));
  });
}

/** Whether an output may be the next content of an input, by their declared types. */
export function mayContinue(input: Signature, output: Signature): boolean {
  const [from, to] = [input.shape, output.shape];
  if (input.type === undefined || input.type === 'string' || input.type !== output.type)
    return false;
  if (from === undefined || to === undefined || from.length !== to.length) return false;
  return from.every((size, axis) => {
    return typeof size !== 'number' || typeof to[axis] !== 'number' || size === to[axis];
  });
}

/** Whether a model may be a decoder: an output may be an input with rows appended. */
export function mayDecode(model: Signatures): boolean {
  const { inputs, outputs } = model;
  if (inputs.length < 2 || inputs.some(({ type, shape }) => !type || !shape)) return false;
  return inputs.some((input) =>
    outputs.some((output) => {
      const isNamed = (axis: number) => typeof input.shape![axis] === 'string';
      const grows = (axis: number) => !isNamed(axis) || input.shape![axis] !== output.shape![axis];
      const isLarge = input.shape!.length > 2 && mayContinue(input, output);
      return isLarge && openAxes(model, input).some(grows);
    }),
  );
}
