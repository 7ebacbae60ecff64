// Walks the documentation that `./dev docs` made: every link within it leads to a page, and to a place on that page.
// The last line is N passed, M failed, K skipped.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
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
report.end();
