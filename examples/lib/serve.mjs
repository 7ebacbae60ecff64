// Serves apps/playground with Vite, on this machine only.
import { fileURLToPath } from 'node:url';

/** Resolves when the page is up; the process then stays until it is stopped. */
export async function servePlayground(port) {
  const { createServer } = await import('vite');
  const root = fileURLToPath(new URL('../../apps/playground/', import.meta.url));
  const server = await createServer({ root, server: { port } });
  await server.listen();
  console.log('Open the page below; Ctrl-C ends it.');
  server.printUrls();
}
