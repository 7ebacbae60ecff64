// Walks the documentation that `./dev docs` made: every link within it leads to a page, and to an anchor of that page; search and
// filters of tables work in Chromium; table cells are short. The last line is N passed, M failed, K skipped.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { serveFolder } from '../bundlers/lib.mjs';
import { Report } from '../js/browser/checks.mjs';

const folder = fileURLToPath(new URL('../../build/docs/', import.meta.url));
const report = new Report();
const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
const pages = files.filter((name) => name.endsWith('.html')).map((name) => join(folder, name));
const plain = (text) => text.replaceAll('&amp;', '&');

const texts = new Map();
const textOf = (file) => {
  if (!texts.has(file)) texts.set(file, readFileSync(file, 'utf8'));
  return texts.get(file);
};
const places = new Map();
const placesOf = (file) => {
  if (!places.has(file)) {
    const found = [...textOf(file).matchAll(/<[^>]*? (?:id|name)="([^"]+)"/g)];
    places.set(file, new Set(found.map(([, name]) => plain(name))));
  }
  return places.get(file);
};

/** What is wrong with a link, or nothing. */
function problemOf(page, link) {
  if (/^[a-z][a-z+.-]*:|^\/\//i.test(link)) return undefined;
  const [path, place] = plain(link).split('#').map(decodeURIComponent);
  let file = path === '' ? page : join(dirname(page), path.replace(/\?.*/, ''));
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) file = join(file, 'index.html');
  if (!existsSync(file)) return `${link}: no such file`;
  if (place && file.endsWith('.html') && !placesOf(file).has(place))
    return `${link}: no such place`;
  return undefined;
}

/** The links of a page that are dead. */
function deadLinks(page) {
  const markup = textOf(page).replace(/<script[^>]*>[^]*?<\/script>/g, '');
  const links = [...markup.matchAll(/<[^>]*? (?:href|src)="([^"]*)"/g)].map(([, link]) => link);
  return [...new Set(links)].map((link) => problemOf(page, link)).filter(Boolean);
}

for (const name of ['guides', 'JavaScript', 'C++']) {
  const start = { guides: 'documents/', JavaScript: '', 'C++': 'cpp/' }[name];
  await report.check(`links: ${name}`, () => {
    const own = pages.filter((page) => {
      const path = relative(folder, page);
      const of = /^(documents|cpp)\//.exec(path)?.[0] ?? '';
      return of === start;
    });
    assert.ok(own.length > 0, 'no page');
    const dead = own.flatMap((page) =>
      deadLinks(page).map((problem) => `${relative(folder, page)}: ${problem}`),
    );
    assert.deepEqual(dead, []);
    return `${own.length} pages`;
  });
}
await report.check('the guides have their tables and pictures', () => {
  const text = (name) => textOf(join(folder, 'documents', name));
  assert.match(text('Coming_from_TensorFlow.js.html'), /<code>LayersModel<\/code>/);
  assert.equal(text('A_tour_of_the_compiler.html').match(/<img [^>]*\.svg"/g).length, 3);
});

await report.check('the guides answer the questions of the front page', () => {
  const front = textOf(join(folder, 'index.html'));
  const list = /How do I[^]*?<ul>([^]*?)<\/ul>/.exec(front)[1];
  const links = [...list.matchAll(/href="([^"]+)"/g)].map(([, link]) => link);
  assert.equal(links.length, 12);
  assert.deepEqual(
    links.filter((link) => !link.startsWith('documents/')),
    [],
  );
});

await report.check('no cell of a table in the guides has more than 30 words', () => {
  const guides = new URL('../../docs/guides/', import.meta.url);
  const long = readdirSync(guides)
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) =>
      readFileSync(new URL(name, guides), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .flatMap((line) => line.split('|'))
        .filter((cell) => cell.trim().split(/\s+/).length > 30)
        .map((cell) => `${name}: ${cell}`),
    );
  assert.deepEqual(long, []);
});

const server = await serveFolder(folder);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const page = await browser.newPage();

/** An address of the server as a link of the front page. */
const local = (link) => link.replace(server.url, '.').replace(/^\//, './');

/** The addresses that the search of a page lists, best first. */
async function search(from, words) {
  await page.goto(`${server.url}/${from}`);
  await page.fill('.site-search input', words);
  await page.waitForSelector('.site-search .pagefind-ui__result-link');
  return page.$$eval('.site-search .pagefind-ui__result-link', (links) =>
    links.map((link) => link.getAttribute('href')),
  );
}

for (const [words, expected] of [
  ['signal', /documents\/Models_and_training\.html/],
  ['Safari', /documents\/Browsers\.html/],
  ['Next', /documents\/Getting_started\.html/],
  ['softmaxCrossEntropy', /documents\/Losses/],
  ['depthwiseConv2d', /documents\/(Layers|Operations_on_tensors)\.html/],
]) {
  await report.check(`the search finds ${words}`, async () => {
    const found = await search('index.html', words);
    assert.ok(
      found.some((link) => expected.test(link)),
      found.join(' '),
    );
    const dead = found.map((link) => problemOf(join(folder, 'index.html'), local(link)));
    assert.deepEqual(dead.filter(Boolean), []);
  });
}
await report.check('pages below and of C++ have the search', async () => {
  for (const from of ['documents/Layers.html', 'cpp/index.html']) {
    const found = await search(from, 'signal');
    const { status } = await fetch(new URL(found[0], `${server.url}/${from}`));
    assert.equal(status, 200, found[0]);
  }
});
await report.check('the table of differences can be filtered', async () => {
  await page.goto(`${server.url}/documents/Coming_from_TensorFlow.js.html`);
  const rows = page.locator('.table-filter + p + table').first().locator('tbody tr');
  assert.ok((await rows.count()) > 30);
  await page.locator('.table-filter').first().fill('batchNormalization trainable');
  const visible = await rows.evaluateAll((all) => all.filter((row) => !row.hidden).length);
  assert.equal(visible, 1);
});
await browser.close();
server.stop();
report.end();
