/** The package with the modules that pages load on demand imported statically: the entry for Node, and of the bundle. */
import { nodeProcess } from './base/node.js';
import { loadFormats } from './core/formats.js';
import { addPendingLoad, registerDeferred } from './layers/deferred.js';
import { deferredMembers } from './deferred/members.js';
import * as pool from './runtime/pool.js';
import { useRevectorize } from './runtime/env.js';
import { revectorize } from './runtime/revectorize.js';
import { installPool } from './runtime/threads.js';

export * from './index.js';

registerDeferred(deferredMembers);
installPool(pool);
useRevectorize(revectorize);
// The bundle has no files next to it to fetch: a page has everything inlined.
if (nodeProcess === undefined && !import.meta.url) addPendingLoad(loadFormats());
