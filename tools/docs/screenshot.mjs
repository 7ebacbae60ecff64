// Writes docs/page.jpg, the image of README: the page that `./dev site` built, or that of the specified folder, after it has
// trained by itself.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { serveFolder } from '../../tests/bundlers/lib.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const trainingMs = 20_000;

const server = await serveFolder(process.argv[2] ?? join(root, 'build/site'));
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const page = await browser.newPage({ viewport: { width: 1400, height: 690 } });
await page.goto(`${server.url}/`);
await page.waitForTimeout(trainingMs);
await page.screenshot({ path: join(root, 'docs/page.jpg'), type: 'jpeg', quality: 80 });
await browser.close();
server.stop();
