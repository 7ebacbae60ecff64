/** Begins to fetch the core in a page that imports the package. Imported before all others, so that it comes while they run. */
import { beginCore } from './core/core_module.js';

beginCore();
