/** Device detection: `tf.device_util`. */
import { isPage } from './platform.js';

let mocked: boolean | undefined;

/** Overrides the result of `isMobile`; undefined removes the override. */
export function mockIsMobile(value: boolean | undefined): void {
  mocked = value;
}

interface Device {
  userAgent?: string;
  vendor?: string;
  product?: string;
  userAgentData?: { mobile: boolean };
}

/** Whether this is a phone or a tablet, according to its browser; React Native is one. */
export function isMobile(nav?: Device): boolean {
  if (mocked !== undefined) return mocked;
  const device = nav ?? (globalThis.navigator as Device | undefined);
  if (!device) return false;
  if (device.product === 'ReactNative') return true;
  if (device.userAgentData) return device.userAgentData.mobile;
  const name = device.userAgent ?? device.vendor ?? '';
  return /android|iphone|ipad|ipod|mobile|blackberry|opera mini|iemobile|silk|kindle/i.test(name);
}

/** Whether this is a page or a web worker. */
export const isBrowser = (): boolean => isPage();
