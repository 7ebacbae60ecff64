/** What device a program runs on: `tf.device_util`. */
import { isPage } from './platform.js';

let mocked: boolean | undefined;

/** Makes `isMobile` answer this; undefined takes it back. */
export function mockIsMobile(value: boolean | undefined): void {
  mocked = value;
}

interface Device {
  userAgent?: string;
  vendor?: string;
  product?: string;
  userAgentData?: { mobile: boolean };
}

/** Whether this is a telephone or a tablet, as far as its browser says so; React Native is one. */
export function isMobile(nav?: Device): boolean {
  if (mocked !== undefined) return mocked;
  const device = nav ?? (globalThis.navigator as Device | undefined);
  if (!device) return false;
  if (device.product === 'ReactNative') return true;
  if (device.userAgentData) return device.userAgentData.mobile;
  const name = device.userAgent ?? device.vendor ?? '';
  return /android|iphone|ipad|ipod|mobile|blackberry|opera mini|iemobile|silk|kindle/i.test(name);
}

/** Whether this is a page or a worker of one. */
export const isBrowser = (): boolean => isPage();
