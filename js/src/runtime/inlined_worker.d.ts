/** worker.js as a text that is a script by itself. Written by js/scripts/build.mjs. */
declare const script: string;
export default script;
