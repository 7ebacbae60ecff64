/** What a file beside a module is made of: `lathe compile --js` writes it, with the name of the module behind it. */
export { runAlone } from './command.js';
export * from './training_module.js';
