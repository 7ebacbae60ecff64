/** IO handlers: functions, memory, and those that routers create for addresses. */
import type { IOHandler, LoadOptions } from '../../io/artifacts.js';
import { routers } from '../../io/routers.js';
import type { ModelArtifacts, WeightData, WeightsManifestEntry } from './artifacts.js';

/** A handler with synchronous calls. */
export interface IOHandlerSync {
  save?(artifacts: ModelArtifacts): object;
  load?(): ModelArtifacts;
}

/** Returns a handler for an address it supports, else null. */
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

/** Adds a router, used by `getSaveHandlers` and by saving to custom schemes. */
export const registerSaveRouter = (router: IORouter): void =>
  IORouterRegistry.registerSaveRouter(router);
/** Adds a router, used by `getLoadHandlers` and by loading from custom schemes. */
export const registerLoadRouter = (router: IORouter): void =>
  IORouterRegistry.registerLoadRouter(router);
/** The handlers that routers return for saving to an address. */
export const getSaveHandlers = (url: string | string[]): IOHandler[] =>
  IORouterRegistry.getSaveHandlers(url);
/** The handlers that routers return for loading from an address. */
export const getLoadHandlers = (url: string | string[], options?: LoadOptions): IOHandler[] =>
  IORouterRegistry.getLoadHandlers(url, options);

/** The artifacts, also from the former positional arguments: topology, specifications, data, training. */
function artifactsOf(
  model: ModelArtifacts | object,
  weightSpecs?: WeightsManifestEntry[],
  weightData?: WeightData,
  trainingConfig?: object,
): ModelArtifacts {
  if (weightSpecs === undefined && weightData === undefined && trainingConfig === undefined) {
    const isArtifacts = 'modelTopology' in model || 'weightSpecs' in model;
    return isArtifacts ? (model as ModelArtifacts) : { modelTopology: model };
  }
  return { modelTopology: model, weightSpecs, weightData, trainingConfig } as ModelArtifacts;
}

/** A handler that loads a model from memory. */
export function fromMemory(...model: Parameters<typeof artifactsOf>): IOHandler {
  const artifacts = artifactsOf(...model);
  return { load: async () => artifacts as never };
}

/** Synchronous `fromMemory`. */
export function fromMemorySync(...model: Parameters<typeof artifactsOf>): IOHandlerSync {
  const artifacts = artifactsOf(...model);
  return { load: () => artifacts };
}

/** A handler that passes saved artifacts to a function. */
export const withSaveHandlerSync = (
  save: (artifacts: ModelArtifacts) => object,
): IOHandlerSync => ({ save });
