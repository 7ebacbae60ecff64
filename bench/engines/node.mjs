/** Runs peers in child processes of this Node, one process for each. */
import { openChild } from './child.mjs';

export async function openNode() {
  return {
    title: `Node ${process.versions.node}`,
    open: async () => openChild('node_child.mjs'),
    async close() {},
  };
}
