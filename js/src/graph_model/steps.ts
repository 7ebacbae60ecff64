/**
 * Computations that stop where the host needs elements: their driver reads them at once, or awaits them where the device of
 * tensors cannot wait.
 */
import { elements, type Tensor } from '../tensor/tensor.js';
import { endScope, inScopes, startScope, type TensorContainer } from '../tensor/live_tensors.js';
import { DeviceValue } from '../runtime/device_value.js';

/** Yields tensors whose elements it needs; resumed with whether they have been read. */
export type Steps<Result> = Generator<readonly Tensor[], Result, boolean>;

/** The result; what is needed is read where it is needed. */
export function runAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next(false);
    if (done) return value;
  }
}

/** The result, with awaited elements. `within` runs a synchronous part; tensors made meanwhile by others are in their own scopes. */
export async function runAwaiting<Result>(
  steps: Steps<Result>,
  within: <T>(action: () => T) => T,
): Promise<Result> {
  const scopes: Parameters<typeof inScopes>[0] = [];
  for (;;) {
    const { done, value } = within(() => inScopes(scopes, () => steps.next(true)));
    if (done) return value;
    await Promise.all(value.map((each) => each.data()));
  }
}

/** As `tidy`. */
export function* tidySteps<Result extends TensorContainer>(steps: Steps<Result>): Steps<Result> {
  startScope();
  let result: Result | undefined;
  try {
    return (result = yield* steps);
  } finally {
    endScope(result);
  }
}

/** The tensors whose elements are on a device only. */
export const unreadIn = (values: readonly unknown[]): Tensor[] =>
  values.filter((each): each is Tensor => {
    const data = (each as Tensor | undefined)?.[elements] as unknown;
    if (!(data instanceof DeviceValue) || data.device.view !== undefined) return false;
    return data.hostCopy === undefined && data.constant === undefined;
  });
