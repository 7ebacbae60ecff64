/**
 * How pages load the deferred members of layers. Bundled into the same chunk as the layers: the fetched module references them,
 * so a program without layers drops both.
 */
import { registerDeferred } from './layers/deferred.js';

registerDeferred(undefined, async () => (await import('./deferred/entry.js')).deferredMembers);
