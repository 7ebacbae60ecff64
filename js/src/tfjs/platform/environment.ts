/**
 * `env()` of TensorFlow.js: flags that are registered, set, and overridden by the query of the page, in addition to the features
 * and settings of the package's `env()`. Both are one object: loading this module adds these members to it.
 */
import { LatheError } from '../../base/errors.js';
import { isPromise } from '../../base/kinds.js';
import { web } from '../../base/web.js';
import {
  Environment as Features,
  env as features,
  type FeatureName,
  isFeatureOrSetting,
  type SettingName,
} from '../../runtime/env.js';
import { type Evaluate, type Flags, type FlagValue, type Hook, registerFlags } from './flags.js';
import { enginePlatform, type Platform } from './platform.js';

interface State {
  global: Surroundings;
  /** The page's environment: it has the features of the engine too. */
  hasFeatures: boolean;
  values: Flags;
  registry: Map<string, { evaluate: Evaluate; hook?: Hook }>;
  fromAddress: Flags | undefined;
  platform?: Platform;
  platformName?: string;
}

interface Surroundings {
  location?: { search?: string };
}

const states = new WeakMap<Features, State>();

/** The query parameter of flags: `?tfjsflags=NAME:VALUE,NAME:VALUE`. */
const inAddress = 'tfjsflags';

/** The parameters of a query such as `?a=1&b=2`. */
export function getQueryParams(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query));
}

/** Parses true, false and numbers; any other string is returned unchanged. */
function parsed(text: string): FlagValue {
  const word = text.toLowerCase();
  if (word === 'true' || word === 'false') return word === 'true';
  return text.trim() !== '' && String(Number(text)) === word ? Number(text) : text;
}

/** A set of flags; the one that `env()` returns has the features and settings of the engine too. */
export class Environment extends Features {
  /** A separate set of flags, overridden by the `location` of `global`. */
  constructor(global: object = {}) {
    super();
    adopt(this, global, false);
  }

  /** The parameters of a query such as `?a=1&b=2`. */
  getQueryParams(query: string): Record<string, string> {
    return getQueryParams(query);
  }

  get global(): object {
    return stateOf(this).global;
  }

  get platform(): Platform {
    return stateOf(this).platform as Platform;
  }

  get platformName(): string {
    return stateOf(this).platformName as string;
  }

  /** Replaces the platform. */
  setPlatform(name: string, platform: Platform): void {
    const state = stateOf(this);
    state.platformName = name;
    state.platform = platform;
  }

  /**
   * Adds a flag, evaluated by `evaluate` on first access, unless it was set before or is in the address.
   * `hook` is called with each value that is `set`, and immediately with that of the address.
   */
  registerFlag(name: string, evaluate: Evaluate, hook?: Hook): void {
    const { registry } = stateOf(this);
    registry.set(name, hook ? { evaluate, hook } : { evaluate });
    const override = overridesOf(this)[name];
    if (override !== undefined) this.set(name, override);
  }

  /** As `get`, also for flags that are evaluated asynchronously. */
  async getAsync(name: string): Promise<FlagValue> {
    const { values } = stateOf(this);
    if (isFeature(this, name) || name in values) return this.get(name);
    return (values[name] = await evaluate(this, name));
  }

  /** The value of a flag, a feature or a setting. Errors: no such flag; one that only `getAsync` can evaluate. */
  override get(name: FeatureName): boolean;
  override get(name: SettingName): number;
  override get(name: string): FlagValue;
  override get(name: string): any {
    if (isFeature(this, name)) return super.get(name as FeatureName);
    const { values } = stateOf(this);
    if (!(name in values)) {
      const value = evaluate(this, name);
      if (isPromise(value)) {
        throw new LatheError(
          `the flag ${name} is found out asynchronously: await getAsync('${name}')`,
        );
      }
      values[name] = value;
    }
    return values[name];
  }

  getNumber(name: string): number {
    return Number(this.get(name));
  }

  getBool(name: string): boolean {
    return this.get(name) as boolean;
  }

  getString(name: string): string {
    return this.get(name) as string;
  }

  /** The flags evaluated so far; not features of the engine. */
  getFlags(): Flags {
    return stateOf(this).values;
  }

  /** As `getFlags`. */
  get flags(): Flags {
    return stateOf(this).values;
  }

  /** The registered flags by name. */
  get flagRegistry(): Record<string, { evaluationFn: Evaluate; setHook?: Hook }> {
    const entries = [...stateOf(this).registry].map(([name, { evaluate, hook }]) => [
      name,
      hook ? { evaluationFn: evaluate, setHook: hook } : { evaluationFn: evaluate },
    ]);
    return Object.fromEntries(entries);
  }

  /** As `getFlags`; of the page's environment also every feature. */
  override get features(): Record<FeatureName, boolean> & Flags {
    const { hasFeatures, values } = stateOf(this);
    return (hasFeatures ? { ...super.features, ...values } : values) as Features['features'] &
      Flags;
  }

  /** Sets a flag, a feature or a setting. Errors: no such flag, unless it belongs to a backend of TensorFlow.js; an invalid value of a feature. */
  override set(name: string, value: FlagValue): void {
    if (isFeature(this, name)) return super.set(name as FeatureName, value as boolean);
    const { registry, values } = stateOf(this);
    const flag = registry.get(name);
    if (!flag && !isOfOthers(name)) {
      throw new LatheError(`Cannot set flag ${name} as it has not been registered.`);
    }
    values[name] = value;
    flag?.hook?.(value);
  }

  /** Replaces all values; names need not be registered. */
  setFlags(flags: Flags): void {
    stateOf(this).values = { ...flags };
  }

  /** Resets all flags that were set or evaluated, and for the page's environment the features. */
  override reset(): void {
    const state = stateOf(this);
    if (state.hasFeatures) super.reset();
    state.values = {};
    state.fromAddress = undefined;
    for (const [name, value] of Object.entries(overridesOf(this))) {
      if (state.registry.has(name)) this.set(name, value);
    }
  }
}

function stateOf(environment: Features): State {
  return states.get(environment)!;
}

function adopt(environment: Features, global: Surroundings, hasFeatures: boolean): void {
  const [platformName, platform] = hasFeatures ? enginePlatform() : [];
  const state = { global, hasFeatures, values: {}, registry: new Map(), fromAddress: undefined };
  states.set(environment, { ...state, platform, platformName });
}

function isFeature(environment: Features, name: string): boolean {
  return stateOf(environment).hasFeatures && isFeatureOrSetting(name);
}

/** Flags of TensorFlow.js backends that do not exist here: programs may set them; unset ones are false. */
const isOfOthers = (name: string) =>
  /WEBGL|WEBGPU|HANDOFF|^KEEP_INTERMEDIATE_TENSORS$|^ENGINE_COMPILE_ONLY$/.test(name);

function evaluate(environment: Features, name: string): FlagValue | Promise<FlagValue> {
  const flag = stateOf(environment).registry.get(name);
  if (flag) return flag.evaluate();
  if (isOfOthers(name)) return false;
  throw new LatheError(`Cannot evaluate flag '${name}': no evaluation function found.`);
}

/** The flags in the address. */
function overridesOf(environment: Environment): Flags {
  const state = stateOf(environment);
  if (state.fromAddress) return state.fromAddress;
  const query = state.global.location?.search;
  const list = (query && environment.getQueryParams(query)[inAddress]) || '';
  const pairs = list.split(',').filter((each) => each.includes(':'));
  const entries = pairs.map((each) => [
    each.slice(0, each.indexOf(':')),
    parsed(each.slice(each.indexOf(':') + 1)),
  ]);
  return (state.fromAddress = Object.fromEntries(entries) as Flags);
}

/** The one environment of the page: that of the package, with these members. */
export const ENV: Environment = /* @__PURE__ */ (() => {
  const page = Object.setPrototypeOf(features(), Environment.prototype) as Environment;
  adopt(page, globalThis as Surroundings, true);
  registerFlags(page);
  const { platform } = page;
  const { fetch } = platform;
  web.isReplaced = () => page.platform.fetch !== fetch;
  web.fetch = (path, init) => page.platform.fetch(path as string, init);
  return page;
})();

/** The one environment of the page. */
export const env = (): Environment => ENV;

/** Replaces the platform of the page's environment. */
export const setPlatform = (name: string, platform: Platform): void =>
  ENV.setPlatform(name, platform);
