/** Node as a page does not have it: its process, and its modules without a bundler that follows them. */

export interface Process {
  env: Record<string, string | undefined>;
  pid: number;
  versions: Record<string, string | undefined>;
  arch: string;
  kill(pid: number, signal: number): void;
  /** Since Node 22.3. */
  getBuiltinModule?(name: string): any;
}

/** The process of Node and what imitates it, or undefined in a page. */
export const nodeProcess = (globalThis as { process?: Partial<Process> }).process?.versions?.node
  ? ((globalThis as { process?: unknown }).process as Process)
  : undefined;

/** A module of Node. Bundlers do not follow the name. */
export function nodeModule(name: string): Promise<any> {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ name);
}
