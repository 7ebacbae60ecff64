// What runnable examples share: the command line, where data lies, errors in one line.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { dataPath as defaultPath } from '../../tools/data.mjs';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The option --data of examples that train on files. */
export const defaultData = defaultPath('train');

/** Where the example of that name saves its plot unless told otherwise. */
export const plotPath = (name) => join(root, `build/examples/${name}.svg`);

/**
 * Runs an example with the options of the command line: `defaults` has one entry for each, whose value says its type too
 * (undefined: text). Prints the usage on --help; an error is one line, and the process ends with 1.
 */
export async function runExample(name, usage, defaults, run) {
  try {
    const options = readOptions(defaults);
    if (options.help) console.log(usage);
    else await run(options);
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
}

/** The path of a file or folder within the data. Error: it is not there. */
export function dataPath(folder, name) {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  throw new Error(`${path} is missing; --data DIR names the folder that has ${name}`);
}

/**
 * The same; without --data undefined if it is not there, and a line that says what stands in for it and where the real data are.
 */
export function dataPathIfAny(folder, name, standIn, source) {
  const path = join(folder, name);
  if (existsSync(path) || folder !== defaultData) return dataPath(folder, name);
  console.log(`data: ${standIn}; the real ones: ${source}, as DIR/${name} with --data DIR`);
  return undefined;
}

function readOptions(defaults) {
  const types = Object.entries(defaults).map(([name, value]) => [
    name,
    { type: typeof value === 'boolean' ? 'boolean' : 'string' },
  ]);
  const help = { type: 'boolean', short: 'h', default: false };
  const { values } = parseArgs({ options: { ...Object.fromEntries(types), help } });
  for (const [name, value] of Object.entries(defaults)) {
    if (values[name] === undefined) values[name] = value;
    else if (typeof value === 'number') values[name] = wholeNumber(name, values[name]);
  }
  return values;
}

function wholeNumber(name, text) {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= (name === 'seed' ? 0 : 1)) return value;
  throw new Error(`--${name} must be a whole number, got "${text}"`);
}
