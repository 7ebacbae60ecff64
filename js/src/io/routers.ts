/** What programs make of addresses of their own, once they have registered something. */
import type { IOHandler, LoadOptions } from './artifacts.js';

/** Gives handlers for an address, by what they are for. */
export const routers: {
  save?: (address: string) => readonly IOHandler[];
  load?: (address: string, options: LoadOptions) => readonly IOHandler[];
} = {};
