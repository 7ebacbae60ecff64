/** What else onnxruntime-common exports, for packages that import it by name: other backends, and marks for profilers. */

/** Another way to run sessions. */
export interface Backend {
  init(name: string): Promise<void>;
  createInferenceSessionHandler(model: string | Uint8Array, options?: object): Promise<unknown>;
}

/** No effect: sessions run on this package. Errors: it is no backend. */
export function registerBackend(_name: string, backend: Backend, _priority: number): void {
  const { init, createInferenceSessionHandler } = backend ?? {};
  if (typeof init === 'function' && typeof createInferenceSessionHandler === 'function') return;
  throw new TypeError('not a valid backend');
}

/** No effect, as `env.trace`. */
export function TRACE(_deviceType: string, _label: string): void {}

function unmarked(_extraMsg?: string): void {}
export {
  unmarked as TRACE_EVENT_BEGIN,
  unmarked as TRACE_EVENT_END,
  unmarked as TRACE_FUNC_BEGIN,
  unmarked as TRACE_FUNC_END,
};
