/**
 * What pages that only call functions never need: members that describe layers and models, checks of their options. In Node
 * and in the bundle it is there from the beginning; a page fetches it when it makes its first layer. Knows what there is, not
 * what it does.
 */
import { LatheError } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';
import type { InputRules } from './input_spec.js';
import type { Layer, LayerArgs } from './layer.js';

/** Functions by the names of members; the first argument is the layer. */
type Members = Record<string, (layer: never, ...args: never[]) => unknown>;

/** What is fetched. */
export interface Extras {
  /** Of layers and models. */
  members: Members;
  /** Error: what makes inputs, models or callbacks has no option of a name. */
  checkArguments(maker: string, given: object): void;
  /** Error: the inputs of a layer are not as it says. */
  checkInputs(layer: string, rules: InputRules, inputs: readonly Tensor[]): void;
  /** Error: the options of a layer of the core are wrong. */
  checkLayer(maker: string, className: string, options: LayerArgs): void;
  /** Error: the parameters of an initialiser and the like are wrong. */
  checkParameters(maker: string, parameters: unknown): void;
  /** Of an initialiser, a regulariser or a constraint. */
  choiceConfig(choice: object): ClassConfig;
  /** What an initialiser gives for a shape, a regulariser or a constraint for a tensor. */
  applyChoice(choice: object, given: unknown, dtype?: string): Tensor;
  /** Gives a layer its options as properties. */
  showOptions(layer: Layer): void;
  layerConfig(layer: Layer): Record<string, unknown>;
  fromConfig(cls: object, config: Record<string, unknown>): Layer;
}

/** A class and what it is made with, as TensorFlow.js writes layers and their parts down. */
export interface ClassConfig {
  className: string;
  config: object;
}

let extras: Extras | undefined;
let fetching: Promise<Extras> | undefined;
let awaited: Promise<unknown> | undefined;
let fetchThem: (() => Promise<Extras>) | undefined;

/** Where it is, or how to fetch it. */
export function useExtras(there: Extras | undefined, fetch?: () => Promise<Extras>): void {
  extras ??= there;
  fetchThem = fetch;
}

/** It, if it is there; else it begins to come. */
export function extrasAtHand(): Extras | undefined {
  if (extras === undefined) void fetchExtras();
  return extras;
}

/** It. Error: the page has not fetched it yet. */
export function extrasFor(what: string): Extras {
  const there = extrasAtHand();
  if (there !== undefined) return there;
  throw new LatheError(
    `${what}: pages load this with their first layer; await tl.ready() after making it`,
  );
}

/** Resolves when it is there, or cannot be fetched; then a later call tries again. */
export async function fetchExtras(): Promise<void> {
  fetching ??= fetchThem?.();
  try {
    extras ??= await fetching;
  } catch {
    fetching = undefined;
  }
}

/** Has `ready` wait for something else, whatever becomes of it. */
export function alsoReady(more: Promise<unknown>): void {
  awaited = Promise.all([awaited, more.catch(() => undefined)]);
}

/** What `ready` waits for beside the core. */
export const extrasAsked = (): Promise<unknown> =>
  Promise.all([awaited, fetching && fetchExtras()]);

/**
 * Gives a class these members, and gives their names; those that begin with a dot are properties. They are kept behind
 * `prefix`. A class calls it for a static field, so that bundlers can leave the class out.
 */
export function addMembers(
  { prototype }: { prototype: object },
  names: string,
  prefix = '',
): string {
  for (const given of names.split(' ')) {
    const name = given.replace('.', '');
    const member = (layer: object, args: unknown[]) =>
      extrasFor(name).members[prefix + name]!(layer as never, ...(args as never[]));
    const property = {
      get(this: Layer) {
        return member(this, []);
      },
      set(this: Layer, value: unknown) {
        Object.defineProperty(this, name, { value, writable: true, configurable: true });
      },
    };
    const method = {
      value(this: Layer, ...args: unknown[]) {
        return member(this, args);
      },
      writable: true,
    };
    Object.defineProperty(prototype, name, {
      ...(given.startsWith('.') ? property : method),
      configurable: true,
    });
  }
  return names;
}
