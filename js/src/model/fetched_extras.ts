/** What a page fetches: a module of its own, so that bundlers write nothing around the one that it names. */
export { extras } from './extras.js';
