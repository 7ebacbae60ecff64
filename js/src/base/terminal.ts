/** The terminal of a program in Node. */
import { nodeProcess } from './node.js';

/** The stream of a terminal. */
export interface Terminal {
  isTTY?: boolean;
  columns?: number;
  write(text: string): void;
}

/** Standard output in Node. */
export const terminal = (): Terminal | undefined =>
  (nodeProcess as { stdout?: Terminal } | undefined)?.stdout;
