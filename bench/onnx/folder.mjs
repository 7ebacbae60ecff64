/** Where published models are: the repository has none. */
import { dataPath } from '../../tools/data.mjs';

export const modelsFolder = dataPath('models');
