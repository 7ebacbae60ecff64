/** What programs make of addresses of their own, once they have registered something. */
import { isAddress } from '../base/kinds.js';
import type { IOHandler, LoadOptions } from './artifacts.js';

/** Gives handlers for an address, by what they are for. */
export const routers: {
  save?: (address: string) => readonly IOHandler[];
  load?: (address: string, options: LoadOptions) => readonly IOHandler[];
  /** Files of Keras, once the module tensorlathe/keras is imported. */
  keras?: (address: string) => IOHandler;
} = {};

/** Whether a value is the address of a file of Keras. */
export const isKeras = (value: unknown): value is string | URL =>
  isAddress(value) && /\.(h5|hdf5|keras)$/i.test(String(value));
