/** Handlers of custom addresses that programs have registered. */
import { isAddress } from '../base/kinds.js';
import type { IOHandler, LoadOptions } from './artifacts.js';

/** Finds the handlers of an address for an operation. */
export const routers: {
  save?: (address: string) => readonly IOHandler[];
  load?: (address: string, options: LoadOptions) => readonly IOHandler[];
  /** Handles Keras files, once the module tensorlathe/keras is imported. */
  keras?: (address: string) => IOHandler;
} = {};

/** Whether a value is the address of a Keras file. */
export const isKeras = (value: unknown): value is string | URL =>
  isAddress(value) && /\.(h5|hdf5|keras)$/i.test(String(value));
