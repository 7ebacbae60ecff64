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
 * isolated: with COOP and COEP; compressed: code is sent as gzip, cached between requests, and browsers cache it; pages: content by path
 * in addition to that of the repository; folders: others by path prefix. Returns the address, drainSent(): [path, bytes] since the last call,
 * nextPosted(): what a page posts next, and close().
 */
export async function serve({ isolated = false, compressed = false, pages = {}, folders = {} }) {
  const roots = Object.entries({ ...folders, '/': root });
  const cache = new Map();
  let sent = [];
  let resolvePosted = () => {};

  async function load(path) {
    const [start, folder] = roots.find(([each]) => path.startsWith(each));
    const file = join(folder, path.slice(start.length));
    const content = path in pages ? pages[path] : await readFile(file);
    return compressed && extname(path) in types ? gzipSync(content, { level: 9 }) : content;
  }

  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      resolvePosted(Buffer.concat(await request.toArray()).toString());
      return response.end();
    }
    const path = normalize(new URL(request.url, 'http://localhost').pathname);
    const content = cache.get(path) ?? (await load(path).catch(() => undefined));
    if (content === undefined) return response.writeHead(404).end();
    if (compressed) cache.set(path, content);
    if (isolated) {
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    }
    if (compressed && extname(path) in types) {
      response.setHeader('Content-Encoding', 'gzip');
      response.setHeader('Cache-Control', 'max-age=600');
    }
    response.setHeader('Content-Type', types[extname(path)] ?? 'application/octet-stream');
    sent.push([path, content.length]);
    response.end(content);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    drainSent() {
      const list = sent;
      sent = [];
      return list;
    },
    nextPosted: () => new Promise((resolve) => (resolvePosted = resolve)),
    close: () => server.close(),
  };
}
