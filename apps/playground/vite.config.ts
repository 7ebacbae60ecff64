// How Vite serves and builds the playground. The headers make the page cross-origin isolated.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { speedupOf } from '../../bench/summary.mjs';

const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};
const repository = fileURLToPath(new URL('../../', import.meta.url));

/** In index.html, <!-- part NAME --> stands for src/parts/NAME.html, <!-- speedup SUITE --> for the speedup in docs/benchmarks. */
const parts = {
  name: 'parts',
  transformIndexHtml: {
    order: 'pre' as const,
    handler: (html: string) =>
      html
        .replace(/<!-- part (\w+) -->/g, (_, name: string) =>
          readFileSync(new URL(`src/parts/${name}.html`, import.meta.url), 'utf8'),
        )
        .replace(/<!-- speedup (\w+) -->/g, (_, suite: string) => speedupOf(suite)),
  },
};

export default defineConfig({
  base: './',
  clearScreen: false,
  plugins: [parts],
  server: { headers, fs: { allow: [repository] } },
  preview: { headers },
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    outDir: `${repository}build/site`,
    emptyOutDir: true,
    assetsInlineLimit: 0,
  },
});
