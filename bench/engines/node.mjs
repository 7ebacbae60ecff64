/** Runs peers in child processes of this Node, one process for each. */
import { pathToFileURL } from 'node:url';
import { openChild } from './child.mjs';

export async function openNode({ against }) {
  return {
    title: `Node ${process.versions.node}`,
    before: against && pathToFileURL(`${against}/js/dist/index.js`).href,
    open: async () => openChild('node_child.mjs'),
    async close() {},
  };
}
