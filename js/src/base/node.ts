/** Node as a page does not have it: its process, and its modules without a bundler that follows them. */

export interface Process {
  env: Record<string, string | undefined>;
  pid: number;
  versions: Record<string, string | undefined>;
  arch: string;
  kill(pid: number, signal: number): void;
  getBuiltinModule(name: string): any;
}

/** The process of Node and what imitates it, or undefined in a page. */
export const nodeProcess = /* @__PURE__ */ (() => {
  const { process } = globalThis as { process?: Partial<Process> };
  return process?.versions?.node && process.getBuiltinModule ? (process as Process) : undefined;
})();

/** A module of Node. Bundlers do not follow the name. */
export const nodeModule = (name: string): any => nodeProcess!.getBuiltinModule(name);

/** Where a `file:` address leads; `file://t.csv` is in the working directory, as TensorFlow.js has it; what is no URL is a path. */
export const filePlace = (address: string): URL | string =>
  /^file:\/\/([^/]|.*[#?])/.test(address) ? address.slice('file://'.length) : new URL(address);
