/** Derivatives of functions of tensors: the operations that a function wrote down are the tape. */
import { LatheError } from '../base/errors.js';
import { HeapValue } from '../runtime/heap_value.js';
import { keep, tidy } from '../tensor/scopes.js';
import { coreDTypes } from '../tensor/dtypes.js';
import { tensor } from '../tensor/create.js';
import { elements, Tensor, type TensorLike } from '../tensor/tensor.js';
import { TracedTensor } from '../trace/trace.js';
import { alias, apply, shown } from './apply.js';
import { zeros } from './constants.js';
import { isRecording, limitGradients, recorded } from './compute.js';
import { Custom } from './derivatives.js';
import { type Held, lastFormula, Operation, type Source } from './formulas.js';
import { gradientsOf, pathTo, since } from './pull_back.js';
import { separate, shownAgain } from './values.js';
import { inFloats, isCutOnWay, isFloat } from './whole_gradients.js';
import { type Earlier, Variable, variables, withEarlier } from './variable.js';

/** Which of `wrt` lead to y. */
function leadTo(
  y: HeapValue,
  wrt: readonly HeapValue[],
  path: ReadonlyMap<HeapValue, Held>,
): boolean[] {
  const reached = new Set<Source>([y]);
  for (const formula of path.values()) {
    if (formula instanceof Operation && /^logical(And|Or)$/.test(formula.signature.op)) continue;
    for (const each of formula.sources) reached.add(each);
  }
  return wrt.map((each) => reached.has(each));
}

/** As `gradientsOf`, with and through integers and bools as if they were floats; zeros where nothing flows. */
function gradientsOfAll(y: Tensor, wrt: readonly Tensor[], dy?: Tensor): (Tensor | undefined)[] {
  const [to, by] = [HeapValue.of(y), wrt.map(HeapValue.of)];
  const path = pathTo([to], by);
  if (isFloat(y) && wrt.every(isFloat) && !isCutOnWay(path)) return gradientsOf(y, wrt, dy, path);
  const known = inFloats(wrt, by, path);
  const target = known.get(to) ?? (isFloat(y) ? y : undefined);
  const floats = by.map((each) => known.get(each)!);
  const seed = dy === undefined || isFloat(dy) ? dy : apply('cast', [dy], ['float32']);
  const found = target === undefined ? [] : gradientsOf(target, floats, seed);
  const leads = leadTo(to, by, path);
  return wrt.map((x, at) => found[at] ?? (leads[at] ? zeros(x.shape) : undefined));
}

/** What `valueAndGrad` and the like give. */
export interface ValueAndGrads {
  value: Tensor;
  grads: Tensor[];
}

interface Found {
  value: Tensor;
  grads: (Tensor | undefined)[];
}

/** Whether somebody takes the gradients of a loss otherwise. `begin`: the last formula before it. */
export type Taker = (loss: Tensor, by: readonly Variable[], begin: number) => boolean;

/**
 * What `finish` makes of f() and its gradients; the tensors of it stay.
 *
 * @param isTaken whether no gradients are wanted after all
 */
function differentiate<T>(
  what: string,
  f: () => Tensor,
  wrt: () => readonly Tensor[],
  finish: (found: Found) => T,
  dy?: Tensor,
  isTaken?: (value: Tensor, begin: number) => boolean,
): T {
  const before = lastFormula();
  let grads: Found['grads'] = [];
  const action = (earlier: Earlier): T =>
    tidy(() => {
      const value = tidy(f) as unknown;
      if (!(value instanceof Tensor)) {
        throw new LatheError(`${what}: The result y returned by f() must be a tensor.`);
      }
      if (dy !== undefined && dy.shape.join() !== value.shape.join()) {
        throw new LatheError(
          `${what}: The shape of dy passed in ${what}(f)(x, dy) must match the shape returned by f(x): ` +
            `Shapes ${dy.shape.join(',')} and ${value.shape.join(',')} must match`,
        );
      }
      if (earlier.size > 0 || isTaken?.(value, before) !== true)
        grads = since(before, () => gradientsOfVariables(value, wrt(), earlier, dy));
      return finish({ value, grads });
    });
  const result = recorded(() => withEarlier(action));
  limitGradients(grads.map((each) => each?.[elements]).filter((each) => each instanceof HeapValue));
  return result;
}

/** As `gradientsOfAll`: by variables that were changed by all that they were. */
function gradientsOfVariables(
  y: Tensor,
  wrt: readonly Tensor[],
  earlier: Earlier,
  dy?: Tensor,
): (Tensor | undefined)[] {
  const of = (x: Tensor) => (x instanceof Variable && earlier.get(x)) || [];
  const before = wrt.map((x) => of(x).map(shownAgain));
  const found = gradientsOfAll(y, [...wrt, ...before.flat()], dy);
  let at = wrt.length;
  return before.map((values, place) =>
    [found[place], ...values.map(() => found[at++])].reduce((sum, each) =>
      sum && each ? apply('add', [sum, each]) : (sum ?? each),
    ),
  );
}

function checkFunction(what: string, f: unknown): void {
  if (typeof f !== 'function')
    throw new LatheError(`The f passed in ${what}(f) must be a function`);
}

function differentiable(what: string, values: unknown): Tensor[] {
  if (!Array.isArray(values)) {
    throw new LatheError(
      `The args passed in ${what}(f)(args) must be an array of \`Tensor\`s or \`TensorLike\`s`,
    );
  }
  return values.map((each: TensorLike) => given(what, each));
}

function given(what: string, x: TensorLike): Tensor {
  if (x instanceof TracedTensor) {
    throw new LatheError(`${what}: within tl.compile write g.grad(loss, xs) for it`);
  }
  if (x instanceof Tensor) return x;
  if (x === undefined || x === null)
    throw new LatheError(`The x passed in ${what}(f)(x) must be a tensor`);
  return tensor(x);
}

function checked(found: readonly (Tensor | undefined)[]): Tensor[] {
  const missing = found.filter((each) => each === undefined).length;
  if (missing === 0) return found as Tensor[];
  throw new LatheError(
    'Cannot compute gradient of y=f(x) with respect to x. Make sure that the f you passed ' +
      'encloses all operations that lead from x to y.',
  );
}

/**
 * The function that gives df(x)/dx for x, of the shape of x; of an f(x) that is no scalar the gradient of its sum, or
 * of its sum multiplied by dy. Gradients of gradients are such functions too.
 *
 * Errors: f does not depend on x; dy has another shape than f(x).
 */
export function grad(f: (x: Tensor) => Tensor): (x: TensorLike, dy?: TensorLike) => Tensor {
  checkFunction('grad', f);
  return (x, dy) => {
    const xs = () => [given('grad', x)];
    return onlyGrads(valueAndGradients('grad', ([only]) => f(only!), xs, dy))[0]!;
  };
}

/** As `grad`, of several arguments: gives an array. */
export function grads(
  f: (...xs: Tensor[]) => Tensor,
): (xs: readonly TensorLike[], dy?: TensorLike) => Tensor[] {
  checkFunction('grads', f);
  return (xs, dy) => {
    const given = () => differentiable('grads', xs);
    return onlyGrads(valueAndGradients('grads', (all) => f(...all), given, dy));
  };
}

/** As `grad`, with f(x). */
export function valueAndGrad(
  f: (x: Tensor) => Tensor,
): (x: TensorLike, dy?: TensorLike) => { value: Tensor; grad: Tensor } {
  checkFunction('valueAndGrad', f);
  return (x, dy) => {
    const xs = () => [given('valueAndGrad', x)];
    const { value, grads } = valueAndGradients('valueAndGrad', ([only]) => f(only!), xs, dy);
    return { value, grad: grads[0]! };
  };
}

/** As `grads`, with f(...xs). */
export function valueAndGrads(
  f: (...xs: Tensor[]) => Tensor,
): (xs: readonly TensorLike[], dy?: TensorLike) => ValueAndGrads {
  checkFunction('valueAndGrads', f);
  return (xs, dy) => {
    const given = () => differentiable('valueAndGrads', xs);
    return valueAndGradients('valueAndGrads', (all) => f(...all), given, dy);
  };
}

function valueAndGradients(
  what: string,
  f: (xs: Tensor[]) => Tensor,
  xs: () => Tensor[],
  dy?: TensorLike | null,
): ValueAndGrads {
  return tidy(() => {
    const by = xs();
    by.forEach(separate);
    const seed = dy === undefined || dy === null ? undefined : given(what, dy);
    return differentiate(
      what,
      () => f(by),
      () => by,
      ({ value, grads }) => ({ value, grads: checked(grads) }),
      seed,
    );
  });
}

function onlyGrads({ value, grads }: ValueAndGrads): Tensor[] {
  value.dispose();
  return grads;
}

/**
 * The value of f, a scalar, and its gradients by variables, by their names.
 *
 * @param varList the variables; left out, all that can be trained, that f uses and that were there before it
 * @param take where it does, there are no gradients
 *
 * Errors: f gives no scalar; it uses no variable that can be trained.
 */
export function variableGrads(
  f: () => Tensor,
  varList?: readonly Variable[],
  take?: Taker,
): { value: Tensor; grads: Record<string, Tensor> } {
  checkFunction('variableGrads', f);
  const isListed = varList !== undefined && varList !== null;
  if (isListed && !(Array.isArray(varList) && varList.every((each) => each instanceof Variable))) {
    throw new LatheError(
      'The varList passed in variableGrads(f, varList) must be an array of variables',
    );
  }
  let listed: Variable[] = [];
  let by: Variable[] = [];
  let isTaken = false;
  const all = (): Variable[] => [...(isListed ? varList : variables.values())];
  const before = new Set(all());
  for (const each of before) separate(each);
  // Weights of layers become variables when they are first used.
  const isKnown = (each: Variable) => before.has(each) || each.constructor !== Variable;
  return differentiate(
    'variableGrads',
    () => {
      const y = f();
      listed = all().filter(isKnown);
      by = [...new Set(listed)].filter((each) => each.trainable);
      return y;
    },
    () => by,
    (found) => ({ value: found.value, grads: isTaken ? {} : byName(by, found, listed.length) }),
    undefined,
    take && ((value, begin) => (isTaken = take(value, by, begin))),
  );
}

function byName(
  by: readonly Variable[],
  { value, grads }: Found,
  count: number,
): Record<string, Tensor> {
  if (by.length === 0) {
    throw new LatheError(
      `variableGrads() expects at least one of the input variables to be trainable, but none of the ${count} variables is trainable.`,
    );
  }
  if (grads.every((each) => each === undefined)) {
    throw new LatheError(
      'Cannot find a connection between any variable and the result of the loss function y=f(x). ' +
        'Please make sure the operations that use variables are inside the function f passed to minimize().',
    );
  }
  if (value.rank !== 0) {
    throw new LatheError(
      `The f passed in variableGrads(f) must return a scalar, but it returned a rank-${value.rank} tensor`,
    );
  }
  const named = by.map(({ name }, at) => [name, grads[at]] as const);
  return Object.fromEntries(
    named.filter((each): each is [string, Tensor] => each[1] !== undefined),
  );
}

/** What the function of `customGrad` gives. */
export interface CustomGradient {
  value: Tensor;
  /** Gradients of the inputs by that of the value, and what `save` was given. */
  gradFunc: (dy: Tensor, saved: Tensor[]) => Tensor | Tensor[];
}

/** What the function of `customGrad` takes last: keeps tensors for `gradFunc`. */
export type GradSaver = (tensors: Tensor[]) => void;

/**
 * A function of tensors with a gradient of its own: f(...inputs, save) gives its value and the function of its gradient.
 *
 *     const clipped = tl.customGrad((x) => ({ value: x.square(), gradFunc: (dy) => dy.clipByValue(-1, 1) }));
 *
 * Errors: f gives something else; `gradFunc` gives another number of gradients, or of other shapes.
 */
export function customGrad(f: (...args: any[]) => CustomGradient): (...inputs: Tensor[]) => Tensor {
  checkFunction('customGrad', f);
  return (...inputs) => {
    if (!inputs.every((each) => each instanceof Tensor)) {
      throw new LatheError('The args passed in customGrad(f)(x1, x2,...) must all be tensors');
    }
    if (inputs.some((each) => each instanceof TracedTensor)) {
      throw new LatheError('customGrad: not within tl.compile or layers');
    }
    const saved: HeapValue[] = [];
    const again: (() => Tensor)[] = [];
    const save: GradSaver = (tensors) => {
      for (const each of tensors) again.push(saves(each, saved));
    };
    const { value, gradFunc } = customValue(f, inputs, save);
    if (!isRecording()) {
      for (const each of saved) each.release();
      return value;
    }
    const rule = (dy: HeapValue): HeapValue[] =>
      ruled(
        gradFunc,
        shown(dy),
        again.map((show) => show()),
        inputs,
      );
    const formula = new Custom(HeapValue.of(value), inputs.map(HeapValue.of), rule, saved);
    const result = shown(new HeapValue(value.dtype, value.shape, formula));
    value.dispose();
    return result;
  };
}

/** Holds what a tensor shows; gives what shows it again. Complex numbers and texts cannot be held otherwise than by a tensor. */
function saves(x: Tensor, held: HeapValue[]): () => Tensor {
  if (!Object.hasOwn(coreDTypes, x.dtype)) {
    const copy = keep(alias(x));
    return () => copy;
  }
  const value = HeapValue.of(x);
  value.hold();
  held.push(value);
  return () => shownAgain(value);
}

function customValue(
  f: (...args: any[]) => CustomGradient,
  inputs: readonly Tensor[],
  save: GradSaver,
): CustomGradient {
  const found = tidy(() => f(...inputs, save)) as Partial<CustomGradient> | undefined;
  const { value, gradFunc } = found ?? {};
  if (!(value instanceof Tensor)) {
    throw new LatheError(
      'The function f passed in customGrad(f) must return an object where `obj.value` is a tensor',
    );
  }
  if (typeof gradFunc !== 'function') {
    throw new LatheError(
      'The function f passed in customGrad(f) must return an object where `obj.gradFunc` is a function.',
    );
  }
  return { value, gradFunc };
}

function ruled(
  gradFunc: CustomGradient['gradFunc'],
  dy: Tensor,
  saved: Tensor[],
  inputs: readonly Tensor[],
): HeapValue[] {
  const found = gradFunc(dy, saved);
  const all = Array.isArray(found) ? found : [found];
  if (all.length !== inputs.length) {
    throw new LatheError(
      'The function f passed in customGrad(f) must return an object where `obj.gradFunc` is a ' +
        'function that returns the same number of tensors as inputs passed to f(...).',
    );
  }
  if (!all.every((each) => each instanceof Tensor)) {
    throw new LatheError(
      'The function f passed in customGrad(f) must return an object where `obj.gradFunc` is a ' +
        'function that returns a list of only tensors.',
    );
  }
  for (const [at, each] of all.entries()) {
    const { shape } = inputs[at]!;
    if (each.shape.join() === shape.join()) continue;
    throw new LatheError(
      `Error in gradient for custom op. The gradient of input ${at} has shape '${each.shape.join(',')}', ` +
        `which does not match the shape of the input '${shape.join(',')}'`,
    );
  }
  return all.map(HeapValue.of);
}
