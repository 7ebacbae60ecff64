/** Places for models: functions, memory, and what routers make of addresses. */
import type { IOHandler, LoadOptions } from '../../io/artifacts.js';
import { routers } from '../../io/routers.js';
import type { ModelArtifacts, WeightData, WeightsManifestEntry } from './artifacts.js';

/** A place whose calls give at once. */
export interface IOHandlerSync {
  save?(artifacts: ModelArtifacts): object;
  load?(): ModelArtifacts;
}

/** Makes a handler of an address it knows, else gives null. */
export type IORouter = (url: string | string[], options?: LoadOptions) => IOHandler | null;

/** The routers that programs have registered. */
export class IORouterRegistry {
  static instance: IORouterRegistry | null = null;

  readonly saveRouters: IORouter[] = [];
  readonly loadRouters: IORouter[] = [];

  static #get(): IORouterRegistry {
    return (IORouterRegistry.instance ??= new IORouterRegistry());
  }

  static registerSaveRouter(router: IORouter): void {
    IORouterRegistry.#get().saveRouters.push(router);
    routers.save = getSaveHandlers;
  }

  static registerLoadRouter(router: IORouter): void {
    IORouterRegistry.#get().loadRouters.push(router);
    routers.load = getLoadHandlers;
  }

  static getSaveHandlers(url: string | string[]): IOHandler[] {
    return made(IORouterRegistry.#get().saveRouters, url);
  }

  static getLoadHandlers(url: string | string[], options?: LoadOptions): IOHandler[] {
    return made(IORouterRegistry.#get().loadRouters, url, options);
  }
}

const made = (
  routers: readonly IORouter[],
  url: string | string[],
  options?: LoadOptions,
): IOHandler[] =>
  routers.map((router) => router(url, options)).filter((handler) => handler !== null);

/** Adds a router, which saving to a scheme of its own and `getSaveHandlers` ask. */
export const registerSaveRouter = (router: IORouter): void =>
  IORouterRegistry.registerSaveRouter(router);
/** Adds a router, which loading from a scheme of its own and `getLoadHandlers` ask. */
export const registerLoadRouter = (router: IORouter): void =>
  IORouterRegistry.registerLoadRouter(router);
/** What the routers make of an address to save to. */
export const getSaveHandlers = (url: string | string[]): IOHandler[] =>
  IORouterRegistry.getSaveHandlers(url);
/** What the routers make of an address to load from. */
export const getLoadHandlers = (url: string | string[], options?: LoadOptions): IOHandler[] =>
  IORouterRegistry.getLoadHandlers(url, options);

/** The artifacts, also as TensorFlow.js once took them: topology, specifications, data, training. */
function artifactsOf(
  model: ModelArtifacts | object,
  weightSpecs?: WeightsManifestEntry[],
  weightData?: WeightData,
  trainingConfig?: object,
): ModelArtifacts {
  if (weightSpecs === undefined && weightData === undefined && trainingConfig === undefined) {
    const isWhole = 'modelTopology' in model || 'weightSpecs' in model;
    return isWhole ? (model as ModelArtifacts) : { modelTopology: model };
  }
  return { modelTopology: model, weightSpecs, weightData, trainingConfig } as ModelArtifacts;
}

/** A handler that loads a model from memory. */
export function fromMemory(...model: Parameters<typeof artifactsOf>): IOHandler {
  const artifacts = artifactsOf(...model);
  return { load: async () => artifacts as never };
}

/** As `fromMemory`, at once. */
export function fromMemorySync(...model: Parameters<typeof artifactsOf>): IOHandlerSync {
  const artifacts = artifactsOf(...model);
  return { load: () => artifacts };
}

/** A handler that gives what is saved to a function. */
export const withSaveHandlerSync = (
  save: (artifacts: ModelArtifacts) => object,
): IOHandlerSync => ({ save });
