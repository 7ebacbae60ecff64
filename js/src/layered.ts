/**
 * Where pages find what describes layers. It lies in one file with them, so that bundlers leave it out where a program has
 * none: what is fetched holds on to the layers.
 */
import { useExtras } from './layers/extras.js';

useExtras(undefined, async () => (await import('./model/fetched_extras.js')).extras);
