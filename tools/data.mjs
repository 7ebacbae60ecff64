// Where data is that the repository does not have: models, training sets, conformance suites. Nothing outside the clone is read
// unless the environment variable LATHE_DATA names a folder; without it that is build/data, which is absent in a new clone.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The folder of all data. */
export const dataFolder = resolve(root, process.env.LATHE_DATA || 'build/data');

/** The path of a file or folder within the data; it may be absent. */
export const dataPath = (...names) => join(dataFolder, ...names);

/** Why a test that reads this file or folder of the data is skipped, or false: for `test(…, { skip })`. */
export const missingData = (...names) =>
  existsSync(dataPath(...names)) ? false : `no ${names.join('/')} in the folder of LATHE_DATA`;
