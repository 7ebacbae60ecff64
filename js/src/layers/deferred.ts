/**
 * Registry of the members of layers and models that are loaded on demand: descriptions, checks of options, eager calls. Node and
 * the bundle register them at import; a page fetches them when it makes its first layer. Declares their signatures only;
 * `deferred/members` implements them.
 */
import { LatheError } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';
import type { InputRules } from './input_spec.js';
import type { LayerArgs } from './base_args.js';

/** Functions by the names of members; the first argument is the layer. */
type Members = Record<string, (layer: never, ...args: never[]) => unknown>;

/** The module that is loaded on demand. Layers are objects here: this file is below `layer.ts`. */
export interface DeferredMembers {
  /** Methods and getters of layers and models. */
  members: Members;
  /** Checks the options of a function that makes inputs, models or callbacks. Error: an unknown option. */
  checkArguments(factory: string, args: object): void;
  /** Error: the inputs do not match the layer's `inputSpec`. */
  checkInputs(layer: string, rules: InputRules, inputs: readonly Tensor[]): void;
  /** Error: an invalid option of a layer class of the core. */
  checkLayer(factory: string, className: string, options: LayerArgs): void;
  /** Error: an invalid parameter of an activation, initializer, regularizer or constraint. */
  checkParameters(factory: string, parameters: unknown): void;
  /** Class and config of an initializer, regularizer or constraint. */
  weightFunctionConfig(weightFunction: object): ClassConfig;
  /** An initializer applied to a shape and dtype, or a regularizer or constraint applied to a tensor. */
  applyWeightFunction(weightFunction: object, shapeOrTensor: unknown, dtype?: string): Tensor;
  /** Defines the options of a layer as its properties. */
  showOptions(layer: object): void;
  layerConfig(layer: object): Record<string, unknown>;
  fromConfig(cls: object, config: Record<string, unknown>): object;
}

/** A class name and its config, as TensorFlow.js serializes layers, initializers and the like. */
export interface ClassConfig {
  className: string;
  config: object;
}

let deferred: DeferredMembers | undefined;
let fetching: Promise<DeferredMembers> | undefined;
let otherLoads: Promise<unknown> | undefined;
let fetchModule: (() => Promise<DeferredMembers>) | undefined;

/** Registers the deferred members, or the function that fetches them. */
export function registerDeferred(
  members: DeferredMembers | undefined,
  fetch?: () => Promise<DeferredMembers>,
): void {
  deferred ??= members;
  fetchModule = fetch;
}

/** The deferred members if they are loaded; otherwise starts to fetch them. */
export function loadedDeferred(): DeferredMembers | undefined {
  if (deferred === undefined) void fetchDeferred();
  return deferred;
}

/** The deferred members, for the method `what`. Error: the page has not fetched them yet. */
export function requireDeferred(what: string): DeferredMembers {
  const members = loadedDeferred();
  if (members !== undefined) return members;
  throw new LatheError(
    `${what}: pages load this with their first layer; await tl.ready() after making it`,
  );
}

/** Resolves when the members are loaded, or when fetching fails; a later call retries. */
export async function fetchDeferred(): Promise<void> {
  fetching ??= fetchModule?.();
  try {
    deferred ??= await fetching;
  } catch {
    fetching = undefined;
  }
}

/** Adds a load that `ready` waits for; its failure is ignored. */
export function addPendingLoad(load: Promise<unknown>): void {
  otherLoads = Promise.all([otherLoads, load.catch(() => undefined)]);
}

/** The loads that `ready` waits for, other than the core. */
export const pendingLoads = (): Promise<unknown> =>
  Promise.all([otherLoads, fetching && fetchDeferred()]);

/**
 * Adds deferred members to a class and returns `names`, which are separated by spaces; a name that begins with a dot is an
 * accessor. Their implementations are registered under `prefix` + name. Called for a static field, so that bundlers can drop
 * the class.
 */
export function addDeferred(
  { prototype }: { prototype: object },
  names: string,
  prefix = '',
): string {
  for (const entry of names.split(' ')) {
    const name = entry.replace('.', '');
    const member = (layer: object, args: unknown[]) =>
      requireDeferred(name).members[prefix + name]!(layer as never, ...(args as never[]));
    const property = {
      get(this: object) {
        return member(this, []);
      },
      set(this: object, value: unknown) {
        Object.defineProperty(this, name, { value, writable: true, configurable: true });
      },
    };
    const method = {
      value(this: object, ...args: unknown[]) {
        return member(this, args);
      },
      writable: true,
    };
    Object.defineProperty(prototype, name, {
      ...(entry.startsWith('.') ? property : method),
      configurable: true,
    });
  }
  return names;
}
