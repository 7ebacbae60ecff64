/** The package with all that pages fetch on demand and programs ask for at once: for Node, and for the bundle. */
import { useExtras } from './layers/extras.js';
import { extras } from './model/extras.js';

export * from './index.js';

useExtras(extras);
