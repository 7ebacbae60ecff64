/** The description with its weights, under way as soon as this module is imported: import it before the peer. */
import { loadModel } from './report.mjs';

export const loading = loadModel();
