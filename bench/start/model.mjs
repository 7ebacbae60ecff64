/** The description with its weights, requested when this module is imported: import it before the peer. */
import { loadModel } from './report.mjs';

export const loading = loadModel();
