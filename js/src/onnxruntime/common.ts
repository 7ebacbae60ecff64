/** Other exports of onnxruntime-common, for packages that import them by name: backends, and profiler marks. */

/** A backend. */
export interface Backend {
  init(name: string): Promise<void>;
  createInferenceSessionHandler(model: string | Uint8Array, options?: object): Promise<unknown>;
}

/** No effect: sessions run on this package. Errors: no backend. */
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
