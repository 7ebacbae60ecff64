/** Derivatives of functions of tensors. The lazy nodes that a function records are the tape. */
import { LatheError } from '../../base/errors.js';
import { DeviceValue } from '../../runtime/device_value.js';
import { keep, tidy } from '../../tensor/scopes.js';
import { coreDTypes } from '../../tensor/dtypes.js';
import { tensor } from '../../tensor/create.js';
import { elements, Tensor, type TensorLike } from '../../tensor/tensor.js';
import { TracedTensor } from '../../trace/trace.js';
import { alias, applyOperation, tensorOf } from '../apply.js';
import { zeros } from '../constants.js';
import { engine, valueOf } from '../engine.js';
import { CustomVjp } from './vjp_nodes.js';
import {
  isPending,
  lastNodeId,
  type LazyNode,
  type NodeInput,
  Operation,
} from '../graph/lazy_nodes.js';
import { dependencyPath, gradientsOf, withTapeStart } from './backward.js';
import { aliasTensor, unalias } from '../values.js';
import { castPathToFloats, isFloat, pathIsTruncated } from './integer_gradients.js';
import { type PreviousValues, Variable, variables, withPreviousValues } from '../variable.js';

/** Which of `wrt` y depends on. */
function leadTo(
  y: DeviceValue,
  wrt: readonly DeviceValue[],
  path: ReadonlyMap<DeviceValue, LazyNode>,
): boolean[] {
  const reached = new Set<NodeInput>([y]);
  for (const node of path.values()) {
    if (node instanceof Operation && /^logical(And|Or)$/.test(node.signature.op)) continue;
    for (const each of node.sources) reached.add(each);
  }
  return wrt.map((each) => reached.has(each));
}

/**
 * As `gradientsOf`; integers and bools are differentiated as floats. Zeros where y depends on a tensor without a
 * gradient.
 */
function gradientsOfAll(y: Tensor, wrt: readonly Tensor[], dy?: Tensor): (Tensor | undefined)[] {
  const [to, by] = [valueOf(y), wrt.map(valueOf)];
  const path = dependencyPath([to], by);
  if (isFloat(y) && wrt.every(isFloat) && !pathIsTruncated(path))
    return gradientsOf(y, wrt, dy, path);
  const asFloats = castPathToFloats(wrt, by, path);
  const target = asFloats.get(to) ?? (isFloat(y) ? y : undefined);
  const floats = by.map((each) => asFloats.get(each)!);
  const seed = dy === undefined || isFloat(dy) ? dy : applyOperation('cast', [dy], ['float32']);
  const found = target === undefined ? [] : gradientsOf(target, floats, seed);
  const leads = leadTo(to, by, path);
  return wrt.map((x, at) => found[at] ?? (leads[at] ? zeros(x.shape) : undefined));
}

/** The result of `valueAndGrad` and the like. */
export interface ValueAndGrads {
  value: Tensor;
  grads: Tensor[];
}

interface Found {
  value: Tensor;
  grads: (Tensor | undefined)[];
}

/** Whether the caller computes the step from the loss by itself. `begin`: the id of the last node before the loss. */
export type StepRunner = (loss: Tensor, by: readonly Variable[], begin: number) => boolean;

/**
 * The result of `finish` on f() and its gradients; its tensors survive the scope.
 *
 * @param skipsGradients whether no gradients are computed for this value
 */
function differentiate<T>(
  what: string,
  f: () => Tensor,
  wrt: () => readonly Tensor[],
  finish: (found: Found) => T,
  dy?: Tensor,
  skipsGradients?: (value: Tensor, begin: number) => boolean,
): T {
  const before = lastNodeId();
  let grads: Found['grads'] = [];
  const action = (earlier: PreviousValues): T =>
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
      if (earlier.size > 0 || skipsGradients?.(value, before) !== true)
        grads = withTapeStart(before, () => gradientsOfVariables(value, wrt(), earlier, dy));
      return finish({ value, grads });
    });
  const result = engine.tape.record(() => withPreviousValues(action));
  limitPendingGradients(
    grads.map((each) => each?.[elements]).filter((each) => each instanceof DeviceValue),
  );
  return result;
}

/** Limit of groups of pending gradients. */
const maxUnread = 16;

/**
 * Computes the oldest gradients if too many are pending: a program that accumulates the gradients of many steps would
 * otherwise compile one plan of all steps, a different one for every number of steps.
 */
function limitPendingGradients(values: readonly DeviceValue[]): void {
  if (engine.tape.isRecording) return;
  const unread = engine.unreadGradients;
  unread.push(values);
  if (unread.length <= maxUnread) return;
  engine.unreadGradients = unread.filter((group) => group.some(isPendingOutput));
  if (engine.unreadGradients.length > maxUnread)
    engine.plans.compute(engine.unreadGradients.shift()!.filter(isPendingOutput));
}

const isPendingOutput = (value: DeviceValue) => value.tensors > 0 && isPending(value);

/** As `gradientsOfAll`, with respect to every value that a variable had during the function. */
function gradientsOfVariables(
  y: Tensor,
  wrt: readonly Tensor[],
  earlier: PreviousValues,
  dy?: Tensor,
): (Tensor | undefined)[] {
  const of = (x: Tensor) => (x instanceof Variable && earlier.get(x)) || [];
  const before = wrt.map((x) => of(x).map(aliasTensor));
  const found = gradientsOfAll(y, [...wrt, ...before.flat()], dy);
  let at = wrt.length;
  return before.map((values, index) =>
    [found[index], ...values.map(() => found[at++])].reduce((sum, each) =>
      sum && each ? applyOperation('add', [sum, each]) : (sum ?? each),
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
  return values.map((each: TensorLike) => checkedTensor(what, each));
}

function checkedTensor(what: string, x: TensorLike): Tensor {
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
 * The gradient function of f: df(x)/dx in the shape of x. For an f(x) that is not a scalar it is the gradient of its
 * sum, or of the sum of f(x) · dy. May be nested for higher derivatives.
 *
 * Errors: f does not depend on x; dy has another shape than f(x).
 */
export function grad(f: (x: Tensor) => Tensor): (x: TensorLike, dy?: TensorLike) => Tensor {
  checkFunction('grad', f);
  return (x, dy) => {
    const xs = () => [checkedTensor('grad', x)];
    return onlyGrads(valueAndGradients('grad', ([only]) => f(only!), xs, dy))[0]!;
  };
}

/** As `grad` for several arguments; returns an array. */
export function grads(
  f: (...xs: Tensor[]) => Tensor,
): (xs: readonly TensorLike[], dy?: TensorLike) => Tensor[] {
  checkFunction('grads', f);
  return (xs, dy) => {
    const args = () => differentiable('grads', xs);
    return onlyGrads(valueAndGradients('grads', (all) => f(...all), args, dy));
  };
}

/** As `grad`; returns f(x), too. */
export function valueAndGrad(
  f: (x: Tensor) => Tensor,
): (x: TensorLike, dy?: TensorLike) => { value: Tensor; grad: Tensor } {
  checkFunction('valueAndGrad', f);
  return (x, dy) => {
    const xs = () => [checkedTensor('valueAndGrad', x)];
    const { value, grads } = valueAndGradients('valueAndGrad', ([only]) => f(only!), xs, dy);
    return { value, grad: grads[0]! };
  };
}

/** As `grads`; returns f(...xs), too. */
export function valueAndGrads(
  f: (...xs: Tensor[]) => Tensor,
): (xs: readonly TensorLike[], dy?: TensorLike) => ValueAndGrads {
  checkFunction('valueAndGrads', f);
  return (xs, dy) => {
    const args = () => differentiable('valueAndGrads', xs);
    return valueAndGradients('valueAndGrads', (all) => f(...all), args, dy);
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
    by.forEach(unalias);
    const seed = dy === undefined || dy === null ? undefined : checkedTensor(what, dy);
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
 * The value of f, a scalar, and its gradients with respect to variables, by name.
 *
 * @param varList the variables. Default: all trainable variables that existed before the call and that f uses
 * @param runsStep returns true if it computes the step itself; no gradients are computed then
 *
 * Errors: f does not return a scalar; it uses no trainable variable.
 */
export function variableGrads(
  f: () => Tensor,
  varList?: readonly Variable[],
  runsStep?: StepRunner,
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
  let hasRun = false;
  const all = (): Variable[] => [...(isListed ? varList : variables().values())];
  const before = new Set(all());
  for (const each of before) unalias(each);
  // Weights of layers become variables on first use.
  const isCandidate = (each: Variable) => before.has(each) || each.constructor !== Variable;
  return differentiate(
    'variableGrads',
    () => {
      const y = f();
      listed = all().filter(isCandidate);
      by = [...new Set(listed)].filter((each) => each.trainable);
      return y;
    },
    () => by,
    (found) => ({ value: found.value, grads: hasRun ? {} : byName(by, found, listed.length) }),
    undefined,
    runsStep && ((value, begin) => (hasRun = runsStep(value, by, begin))),
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

/** The result of the function of `customGrad`. */
export interface CustomGradient {
  value: Tensor;
  /** Gradients of the inputs from the gradient of the value and the saved tensors. */
  gradFunc: (dy: Tensor, saved: Tensor[]) => Tensor | Tensor[];
}

/** The last argument of the function of `customGrad`: saves tensors for `gradFunc`. */
export type GradSaver = (tensors: Tensor[]) => void;

/**
 * A function of tensors with a custom gradient: f(...inputs, save) returns its value and its gradient function.
 *
 *     const clipped = tl.customGrad((x) => ({ value: x.square(), gradFunc: (dy) => dy.clipByValue(-1, 1) }));
 *
 * Errors: f returns something else; `gradFunc` returns gradients of another number or shape than the inputs.
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
    const saved: DeviceValue[] = [];
    const aliases: (() => Tensor)[] = [];
    const save: GradSaver = (tensors) => {
      for (const each of tensors) aliases.push(saves(each, saved));
    };
    const { value, gradFunc } = customValue(f, inputs, save);
    if (!engine.tape.isRecording) {
      for (const each of saved) each.release();
      return value;
    }
    const rule = (dy: DeviceValue): DeviceValue[] =>
      ruled(
        gradFunc,
        tensorOf(dy),
        aliases.map((show) => show()),
        inputs,
      );
    const node = new CustomVjp(valueOf(value), inputs.map(valueOf), rule, saved);
    const result = tensorOf(engine.lazyValue(value, node));
    value.dispose();
    return result;
  };
}

/**
 * Saves a tensor; the result makes an alias of it. Strings and complex numbers are saved as tensors, others as values.
 */
function saves(x: Tensor, retained: DeviceValue[]): () => Tensor {
  if (!Object.hasOwn(coreDTypes, x.dtype)) {
    const copy = keep(alias(x));
    return () => copy;
  }
  const value = valueOf(x);
  value.retain();
  retained.push(value);
  return () => aliasTensor(value);
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
): DeviceValue[] {
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
  return all.map(valueOf);
}
