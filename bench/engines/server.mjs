/** Serves the repository to pages, with or without the headers that allow shared memory, and counts what it sends. */
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

export const root = fileURLToPath(new URL('../../', import.meta.url));
const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/**
 * isolated: with COOP and COEP; compressed: gzip, kept from one request to the next; pages: generated ones by path.
 * Returns the address, takeSentBytes() and close().
 */
export async function serve({ isolated = false, compressed = false, pages = {} }) {
  const zipped = new Map();
  let sent = 0;

  async function load(path) {
    const content = path in pages ? pages[path] : await readFile(join(root, path));
    if (!compressed) return content;
    if (!zipped.has(path)) zipped.set(path, gzipSync(content, { level: 9 }));
    return zipped.get(path);
  }

  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, 'http://localhost').pathname);
    const content = await load(path).catch(() => undefined);
    if (content === undefined) return response.writeHead(404).end();
    if (isolated) {
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    }
    if (compressed) response.setHeader('Content-Encoding', 'gzip');
    response.setHeader('Content-Type', types[extname(path)] ?? 'application/octet-stream');
    sent += content.length;
    response.end(content);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    takeSentBytes() {
      const bytes = sent;
      sent = 0;
      return bytes;
    },
    close: () => server.close(),
  };
}
