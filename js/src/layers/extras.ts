/**
 * What few pages need of layers and models: members that describe them, checks of their options. In Node and in the
 * bundle it is there from the beginning; a page fetches it when it first asks. Knows what there is, not what it does.
 */
import { LatheError } from '../base/errors.js';
import type { Layer, LayerArgs } from './layer.js';

/** Functions by the names of members; the first argument is the layer. */
type Members = Record<string, (layer: never, ...args: never[]) => unknown>;

/** What is fetched. */
export interface Extras {
  /** Of layers and models. */
  members: Members;
  /** Error: the options of a layer of the core are wrong. */
  checkLayer(maker: string, className: string, options: LayerArgs): void;
  /** Error: the parameters of an initialiser and the like are wrong. */
  checkParameters(maker: string, parameters: unknown): void;
  /** Of an initialiser, a regulariser or a constraint. */
  choiceConfig(choice: object): ClassConfig;
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

/** It, if it is there. */
export const extrasAtHand = (): Extras | undefined => extras;

/** It. Error: the page has not fetched it yet. */
export function extrasFor(what: string): Extras {
  if (extras !== undefined) return extras;
  void fetchExtras();
  throw new LatheError(
    `${what}: a page fetches the code of it when it is first asked for; await tl.ready() once more, then call it`,
  );
}

/** Resolves when what was asked for is there. */
export async function fetchExtras(): Promise<Extras | undefined> {
  fetching ??= fetchThem?.();
  return (extras ??= await fetching);
}

/** Has `ready` wait for something else, whatever becomes of it. */
export function alsoReady(more: Promise<unknown>): void {
  awaited = Promise.all([extrasAsked(), more.catch(() => undefined)]);
}

/** What `ready` waits for, if a member was asked for. */
export const extrasAsked = (): Promise<unknown> | undefined => awaited ?? fetching;

/** Gives a class these members; those that begin with a dot are properties. They are kept behind `prefix`. */
export function addMembers(prototype: object, names: string, prefix = ''): void {
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
}
