// A small static server for the browser tests: the repository, the page that ./dev site builds, and the MNIST data.
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mnistFolder } from '../lib.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Where the page is served: some folder of some host. */
export const siteFolder = '/some/folder/';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};
const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

function fileOf(url) {
  const path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname));
  if (path.startsWith('/mnist/')) return join(mnistFolder, path.slice(7));
  if (path.startsWith(siteFolder)) return join(root, 'build/site', path.slice(siteFolder.length));
  return join(root, path);
}

/** Several files concatenated, for pages that read thousands: /several?/a&/b, and their lengths in a header. */
const several = '/several?';

function sendSeveral(paths, response) {
  const files = paths.map((path) => readFileSync(fileOf(path)));
  response.writeHead(200, { ...isolation, Lengths: files.map(({ length }) => length).join() });
  response.end(Buffer.concat(files));
}

/** Starts a server, cross-origin isolated or not. Resolves with its address and how to stop it. */
export async function serve(isIsolated) {
  const server = createServer((request, response) => {
    if (request.url.startsWith(several)) {
      sendSeveral(request.url.slice(several.length).split('&'), response);
      return;
    }
    const path = fileOf(request.url);
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    response.writeHead(isFile ? 200 : 404, {
      'Content-Type': types[extname(path)] ?? 'application/octet-stream',
      ...(isIsolated ? isolation : {}),
    });
    if (isFile) createReadStream(path).pipe(response);
    else response.end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
