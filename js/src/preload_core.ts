/** Starts to fetch the core in a page. Imported first, so that the download overlaps with the other modules. */
import { prefetchCore } from './core/core_module.js';

prefetchCore();
