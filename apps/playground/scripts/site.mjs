// Builds the page as static files into build/site, with the documentation of build/docs, if it was built.
import { cpSync, existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const page = fileURLToPath(new URL('../', import.meta.url));
const folderOf = (name) => fileURLToPath(new URL(`../../../build/${name}`, import.meta.url));
const [site, docs] = [folderOf('site'), folderOf('docs')];

const hasDocs = existsSync(`${docs}/index.html`);
process.env.VITE_HAS_DOCS = String(hasDocs);
await build({ root: page, logLevel: 'warn', build: { outDir: site, chunkSizeWarningLimit: 2000 } });
if (hasDocs) cpSync(docs, `${site}/docs`, { recursive: true });
console.log(
  `build/site: the page${hasDocs ? ' and its documentation' : ', without documentation'}`,
);
