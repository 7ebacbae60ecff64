// The pages of the guides to images, sentences and sounds, with the models of the examples: a file, typed words, and a microphone
// that hears a WAV file.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { serveFolder } from '../../bundlers/lib.mjs';
import { root, samples } from '../../samples/extract.mjs';

const cdn = 'https://cdn.jsdelivr.net/npm/tensorlathe/';

function runExample(name, ...args) {
  const file = join(root, 'examples', `${name}.mjs`);
  const { status, stderr } = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/** Waits until the one paragraph of the page says something else than before, and gives what. */
async function answer(page, before = '') {
  const query = (old) => ![undefined, old].includes(document.querySelector('p')?.textContent);
  await page.waitForFunction(query, before, { timeout: 60_000 });
  return page.textContent('p');
}

/** `args` start the browser with fake devices. */
export async function checkGuides(executablePath, args) {
  const folder = mkdtempSync(join(tmpdir(), 'tensorlathe-'));
  for (const each of ['sentences', 'sounds']) mkdirSync(join(folder, each));
  symlinkSync(join(root, 'build/package'), join(folder, 'package'));
  runExample('image_to_label', '--rows', '1500', '--out', folder);
  runExample('sentence_to_label', '--rows', '3000', '--out', join(folder, 'sentences'));
  runExample('sound_to_word', '--rows', '1500', '--out', join(folder, 'sounds'));
  for (const { file, language, text } of samples()) {
    const [, name] = /guides\/(images|sentences|sounds)\.md$/.exec(file) ?? [];
    const page = `<!doctype html><link rel="icon" href="data:," />\n${text.replace(cdn, '/package/')}`;
    if (name !== undefined && language === 'html')
      writeFileSync(join(folder, `${name}.html`), page);
  }
  const server = await serveFolder(folder);
  const heard = `--use-file-for-fake-audio-capture=${join(folder, 'sounds/word.wav')}`;
  const browser = await chromium.launch({ executablePath, args: [...args, heard] });
  try {
    const page = await browser.newPage();
    const problems = [];
    page.on('pageerror', (error) => problems.push(error.message));

    await page.goto(`${server.url}/images.html`);
    await page.waitForFunction(() => document.querySelector('input').onchange !== null);
    await page.setInputFiles('input', join(folder, 'digit.png'));
    assert.match(await answer(page), /^(zero|one|two|three|four|five|six|seven|eight|nine)$/);

    await page.goto(`${server.url}/sentences.html`);
    await page.fill('input', 'What a wonderful film!');
    const praise = await answer(page);
    assert.match(praise, /^positive \(\d+ %\)$/);
    await page.fill('input', 'The bread was awful.');
    assert.match(await answer(page, praise), /^negative \(\d+ %\)$/);

    await page.goto(`${server.url}/sounds.html`);
    await page.click('button');
    const isHeard = () => document.querySelector('p').textContent === 'yes';
    await page.waitForFunction(isHeard, undefined, { timeout: 60_000 });
    assert.deepEqual(problems, []);
  } finally {
    await browser.close();
    server.stop();
    rmSync(folder, { recursive: true });
  }
}
