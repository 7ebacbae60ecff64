/**
 * What `@tensorflow/tfjs` exports, on compiled modules: programs change one import.
 *
 * @module tensorlathe/tfjs
 */
import { installChained } from './tfjs/chained.js';

export * from './index.js';
export * from './ops/arithmetic.js';
export * from './ops/shapes.js';

export * as test_util from './tfjs/test_util.js';

installChained();
