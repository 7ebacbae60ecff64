/** The content of one file by its address. */
import { LatheError } from '../errors.js';
import { nodeModule } from '../storage.js';

/** Reads file:// in Node, anything else by fetch. Error: it cannot be read, and why. */
export async function readAddress(address: string | URL, where: string): Promise<Uint8Array> {
  try {
    if (String(address).startsWith('file:')) {
      const { filePath } = await import('./file.js');
      const { readFile } = await nodeModule('node:fs/promises');
      return await readFile(await filePath(address));
    }
    const response = await fetch(address);
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LatheError(`cannot read ${where}: ${reason}`, { cause: error });
  }
}
