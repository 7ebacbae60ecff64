/** Where published models are: beside the repository, or where LATHE_MODELS says. */
import { resolve } from 'node:path';
import { root } from '../engines/server.mjs';

export const modelsFolder = resolve(root, process.env.LATHE_MODELS ?? '../shared/data/models');
