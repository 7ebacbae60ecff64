/** The entry of the loader file that `lathe compile --js` writes next to a module. */
export { runCommand } from './command.js';
export * from './training_module.js';
