/** The process and the modules of Node, in a form that bundlers do not follow. */

export interface Process {
  env: Record<string, string | undefined>;
  pid: number;
  versions: Record<string, string | undefined>;
  arch: string;
  kill(pid: number, signal: number): void;
  getBuiltinModule(name: string): any;
}

/** The process of Node or compatible runtimes; undefined in a page. */
export const nodeProcess = /* @__PURE__ */ (() => {
  const { process } = globalThis as { process?: Partial<Process> };
  return process?.versions?.node && process.getBuiltinModule ? (process as Process) : undefined;
})();

/** A module of Node. Bundlers do not follow the name. */
export const nodeModule = (name: string): any => nodeProcess!.getBuiltinModule(name);

/**
 * The URL or path of a `file:` address: `file://t.csv` is in the working directory, as in TensorFlow.js; an invalid URL
 * is a path.
 */
export const fileUrlOrPath = (address: string): URL | string =>
  /^file:\/\/([^/]|.*[#?])/.test(address) ? address.slice('file://'.length) : new URL(address);
