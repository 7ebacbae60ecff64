/** The package with all that pages fetch on demand and programs ask for at once: for Node, and for the bundle. */
import { nodeProcess } from './base/node.js';
import { openFormats } from './core/formats.js';
import { alsoReady, useExtras } from './layers/extras.js';
import { extras } from './model/extras.js';
import * as pool from './runtime/pool.js';
import { useRevectorize } from './runtime/env.js';
import { revectorize } from './runtime/revectorize.js';
import { useThreads } from './runtime/threads.js';

export * from './index.js';

useExtras(extras);
useThreads(pool);
useRevectorize(revectorize);
// In one file nothing is beside it: pages have it all at once.
if (nodeProcess === undefined && !import.meta.url) alsoReady(openFormats());
