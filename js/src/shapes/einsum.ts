/** Equations of `einsum`: their axes, the summed ones, and the order of sums (`tf.backend_util`). */
import { LatheError } from '../base/errors.js';

interface Equation {
  /** The letters: those of the output in its order, then those that are summed. */
  allDims: string[];
  /** Indices of the summed letters. */
  summedDims: number[];
  /** The letter indices of each input. */
  idDims: number[][];
}

/**
 * The inputs and the output of "ij,jk->ik". Errors: no arrow or several; an ellipsis; a number of terms other than that
 * of inputs.
 */
function termsOf(equation: string, inputs: number): { terms: string[]; output: string } {
  const sides = equation.replace(/\s/g, '').split('->');
  if (sides.length < 2) throw new LatheError('Equations without an arrow are not supported.');
  if (sides.length > 2) throw new LatheError('Equation must contain exactly one arrow ("->").');
  const [input, output] = sides as [string, string];
  if (input.includes('...'))
    throw new LatheError('The ellipsis notation ("...") is not supported yet.');
  const terms = input.split(',');
  if (terms.length !== inputs) {
    throw new LatheError(`Expected ${terms.length} input tensors, received ${inputs}`);
  }
  // The limit of TensorFlow.js, with its message.
  if (terms.length > 2) {
    throw new LatheError('Support for more than 2 input tensors is not implemented yet.');
  }
  return { terms, output };
}

/** The letters of an equation as indices. Errors as of `einsum`. */
export function decodeEinsumEquation(equation: string, inputs: number): Equation {
  const { terms, output } = termsOf(equation, inputs);
  const missing = [...output].find((letter) => !terms.some((term) => term.includes(letter)));
  if (missing !== undefined) {
    throw new LatheError(
      `Output subscripts contain the label ${missing} not present in the input subscripts.`,
    );
  }
  const outputLetters = new Set(output);
  const allDims = [...new Set([...output, ...terms.join('')])];
  const idDims = terms.map((term) => {
    // As above.
    if (new Set(term).size !== term.length) {
      throw new LatheError(
        `Found duplicate axes in input component ${term}. ` +
          'Support for duplicate axes in input is not implemented yet.',
      );
    }
    return [...term].map((letter) => allDims.indexOf(letter));
  });
  const summedDims = allDims.map((_, at) => at).slice(outputLetters.size);
  return { allDims, summedDims, idDims };
}

/**
 * The order that sorts the axes of an input by their letters, and the indices of the `dims` letters that it does not
 * have.
 */
export function getEinsumPermutation(
  dims: number,
  idDims: readonly number[],
): { permutationIndices: number[]; expandDims: number[] } {
  const letters = Array.from({ length: dims }, (_, at) => at);
  return {
    permutationIndices: letters.map((at) => idDims.indexOf(at)).filter((at) => at >= 0),
    expandDims: letters.filter((at) => !idDims.includes(at)),
  };
}

/** Error: a letter with two sizes. */
export function checkEinsumDimSizes(
  dims: number,
  idDims: readonly (readonly number[])[],
  tensors: readonly { shape: readonly number[] }[],
): void {
  const sizes = new Array<number | undefined>(dims);
  for (const [at, { shape }] of tensors.entries()) {
    for (const [axis, letter] of idDims[at]!.entries()) {
      const size = (sizes[letter] ??= shape[axis]!);
      if (size !== shape[axis]) {
        throw new LatheError(
          `Expected dimension ${size} at axis ${axis} of input shaped ${JSON.stringify(shape)}, ` +
            `but got dimension ${shape[axis]}`,
        );
      }
    }
  }
}

/** The order in which letters are summed, and the inputs added at each step. */
export function getEinsumComputePath(
  summedDims: readonly number[],
  idDims: readonly (readonly number[])[],
): { path: number[]; steps: number[][] } {
  const path = summedDims.length > 0 ? [...summedDims] : [-1];
  const done = new Set<number>();
  const steps = Array.from({ length: path.length + 1 }, (_, step) => {
    const letter = path[step];
    if (letter === undefined) return [];
    const includesLetter = (term: readonly number[]) =>
      letter === -1 || term.length === 0 || term.includes(letter);
    const terms = idDims
      .map((_, at) => at)
      .filter((at) => !done.has(at) && includesLetter(idDims[at]!));
    for (const at of terms) done.add(at);
    return terms;
  });
  return { path, steps };
}

/** Whether a permutation is the identity. */
export const isIdentityPermutation = (order: readonly number[]): boolean =>
  order.every((axis, at) => axis === at);
