/** Models on web servers by the platform's fetch, which programs may replace. */
import { LatheError } from '../../base/errors.js';
import { addressBelow, folderOf } from '../../base/file_name.js';
import { isBuffer } from '../../base/kinds.js';
import { fetchOf } from '../../base/web.js';
import {
  type IOHandler,
  type LoadOptions as BaseLoadOptions,
  locationFix,
  type SaveResult,
} from '../../io/artifacts.js';
import { env } from '../platform/environment.js';
import {
  getModelArtifactsForJSON,
  getModelArtifactsInfoForJSON,
  getModelJSONForModelArtifacts,
  getWeightSpecs,
  type ModelArtifacts,
  type ModelJSON,
  type WeightsManifestConfig,
} from './artifacts.js';
import { CompositeArrayBuffer } from './bytes.js';
import { type IORouter, registerLoadRouter, registerSaveRouter } from './handlers.js';
import { loadWeightsAsArrayBuffer } from './weights_loader.js';

type Fetch = (address: string, init?: RequestInit, hint?: object) => Promise<Response>;

export interface LoadOptions extends Omit<BaseLoadOptions, 'fetchFunc'> {
  fetchFunc?: Fetch;
  /** The address of a weight file by its path in the manifest. */
  weightUrlConverter?: (path: string) => Promise<string>;
}

/** The folder of an address, and its query. A query that itself contains `/name?query` belongs to the folder, as in TensorFlow.js. */
export function parseUrl(url: string): [string, string] {
  const nested = /^([^?#]*\?[^#]*\/)[^/?#]*(\?[^/#]*)$/.exec(url);
  if (nested) return [nested[1]!, nested[2]!];
  return [folderOf(url), /^[^?#]*(\?[^#]*)?/.exec(url)![1] ?? ''];
}

export const isHTTPScheme = (url: string): boolean => /^https?:\/\//.test(url);

/** A model by the address of its model.json. */
export class HTTPRequest {
  static readonly URL_SCHEME_REGEX = /^https?:\/\//;
  readonly DEFAULT_METHOD = 'POST';
  readonly requestInit: RequestInit;
  readonly #fetch: Fetch;

  /** Errors: no address, or two of them; a `fetchFunc` that is not a function; a body in `requestInit`. */
  constructor(
    readonly path: string,
    readonly loadOptions: LoadOptions = {},
  ) {
    const { fetchFunc, requestInit } = (this.loadOptions ??= {});
    if (fetchFunc != null && typeof fetchFunc !== 'function') {
      throw new LatheError(
        'Must pass a function that matches the signature of `fetch` (see ' +
          'https://developer.mozilla.org/en-US/docs/Web/API/Fetch_API)',
      );
    }
    this.#fetch = fetchFunc ?? ((...args) => env().platform.fetch(...args));
    if (path == null || path.length === 0) {
      throw new LatheError('URL path for http must not be null, undefined or empty.');
    }
    if (Array.isArray(path)) {
      throw new LatheError(
        `URL paths for http must have a length of 1, (actual length is ${path.length}).`,
      );
    }
    if ((requestInit as RequestInit | undefined)?.body != null) {
      throw new LatheError('requestInit is expected to have no pre-existing body, but has one.');
    }
    this.requestInit = requestInit ?? {};
  }

  /** Sends a form with model.json and model.weights.bin. Errors: a topology that is not JSON; an error response. */
  async save(artifacts: ModelArtifacts): Promise<SaveResult> {
    const { modelTopology, weightSpecs, weightData } = artifacts;
    if (isBuffer(modelTopology)) {
      throw new LatheError(
        'BrowserHTTPRequest.save() does not support saving model topology in binary formats yet.',
      );
    }
    const manifest = [{ paths: ['./model.weights.bin'], weights: weightSpecs! }];
    const json = JSON.stringify(getModelJSONForModelArtifacts(artifacts, manifest));
    const body = new FormData();
    body.append('model.json', new Blob([json], { type: 'application/json' }), 'model.json');
    if (weightData != null) {
      const bytes = new Blob([CompositeArrayBuffer.join(weightData)], {
        type: 'application/octet-stream',
      });
      body.append('model.weights.bin', bytes, 'model.weights.bin');
    }
    const response = await this.#fetch(this.path, {
      method: this.DEFAULT_METHOD,
      ...this.requestInit,
      body,
    });
    if (!response.ok) {
      throw new LatheError(
        `BrowserHTTPRequest.save() failed due to HTTP response status ${response.status}.`,
      );
    }
    return { modelArtifactsInfo: getModelArtifactsInfoForJSON(artifacts), responses: [response] };
  }

  /** Loads model.json. Errors: an unreadable file; invalid JSON; neither topology nor weights. */
  async load(): Promise<ModelArtifacts> {
    const json = await this.#loadJson();
    return getModelArtifactsForJSON(json, (manifest) => this.#loadWeights(manifest));
  }

  async #loadJson(): Promise<ModelJSON> {
    const response = await fetchOf(
      this.path,
      this.path,
      this.requestInit,
      this.#fetch as typeof fetch,
    );
    if (!response.ok) {
      throw new LatheError(
        `Request to ${this.path} failed with status code ${response.status}. Please verify this URL points to the model JSON of the model to load.`,
      );
    }
    let json: ModelJSON;
    try {
      json = (await response.json()) as ModelJSON;
    } catch {
      const isBinary = this.path.endsWith('.pb');
      const hint = isBinary
        ? ' It looks like a binary graph, which TensorFlow.js gave up with 1.0: convert it to model.json.'
        : '';
      throw new LatheError(`Failed to parse model JSON of response from ${this.path}.${hint}`);
    }
    if (json.modelTopology == null && json.weightsManifest == null) {
      throw new LatheError(
        `The JSON from HTTP path ${this.path} contains neither model topology or manifest for weights.`,
      );
    }
    return json;
  }

  async #loadWeights(
    manifest: WeightsManifestConfig,
  ): Promise<[ReturnType<typeof getWeightSpecs>, ArrayBuffer[]]> {
    const { weightPathPrefix, weightUrlConverter, onProgress, fetchFunc } = this.loadOptions;
    const [folder, query] = parseUrl(this.path);
    const prefix = weightPathPrefix || folder;
    const paths = manifest.flatMap((group) => group.paths);
    const addresses = await Promise.all(
      paths.map(
        async (path) =>
          (await weightUrlConverter?.(path)) ??
          addressBelow(prefix, path, this.path, locationFix) + query,
      ),
    );
    const buffers = await loadWeightsAsArrayBuffer(addresses, {
      model: this.path,
      fetchFunc: fetchFunc ?? this.#fetch,
      requestInit: this.requestInit,
      ...(onProgress ? { onProgress } : {}),
    });
    return [getWeightSpecs(manifest), buffers];
  }
}

/** A handler of addresses that begin with http:// or https://, where there is a fetch. */
export const httpRouter: IORouter = (url, options) => {
  const has = typeof fetch !== 'undefined' || (options as LoadOptions | undefined)?.fetchFunc;
  const isAll = Array.isArray(url) ? url.every(isHTTPScheme) : isHTTPScheme(url);
  return has && isAll ? http(url as string, options as LoadOptions) : null;
};

registerSaveRouter(httpRouter);
registerLoadRouter(httpRouter);

/** A model by the address of its model.json; `fetchFunc` replaces fetch. Errors as of `HTTPRequest`. */
export const http = (path: string, options?: LoadOptions): IOHandler =>
  new HTTPRequest(path, options) as IOHandler;

/** As `http`. */
export const browserHTTPRequest = (path: string, options?: LoadOptions): IOHandler =>
  http(path, options);
