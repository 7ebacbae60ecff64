// How Vite serves and builds the playground. The headers make the page cross-origin isolated.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};
const repository = fileURLToPath(new URL('../../', import.meta.url));

export default defineConfig({
  base: './',
  clearScreen: false,
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
