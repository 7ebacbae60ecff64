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
 * isolated: with COOP and COEP; compressed: code goes as gzip, kept from one request to the next, and browsers keep it; pages: content by path
 * beside that of the repository; folders: others by how paths to them begin. Returns the address, takeSent(): [path, bytes] since the last time,
 * nextPosted(): what a page posts next, and close().
 */
export async function serve({ isolated = false, compressed = false, pages = {}, folders = {} }) {
  const places = Object.entries({ ...folders, '/': root });
  const kept = new Map();
  let sent = [];
  let takePosted = () => {};

  async function load(path) {
    const [start, folder] = places.find(([each]) => path.startsWith(each));
    const file = join(folder, path.slice(start.length));
    const content = path in pages ? pages[path] : await readFile(file);
    return compressed && extname(path) in types ? gzipSync(content, { level: 9 }) : content;
  }

  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      takePosted(Buffer.concat(await request.toArray()).toString());
      return response.end();
    }
    const path = normalize(new URL(request.url, 'http://localhost').pathname);
    const content = kept.get(path) ?? (await load(path).catch(() => undefined));
    if (content === undefined) return response.writeHead(404).end();
    if (compressed) kept.set(path, content);
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
    takeSent() {
      const list = sent;
      sent = [];
      return list;
    },
    nextPosted: () => new Promise((take) => (takePosted = take)),
    close: () => server.close(),
  };
}
