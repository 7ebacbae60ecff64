// Runs the package and the playground in headless Chromium. The last line is N passed, M failed, K skipped.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import {
  checkFirstStep,
  checkGraphModels,
  checkLongPlans,
  checkManyFunctions,
  checkMemory,
  checkMnist,
  checkNoWorkers,
  checkOps,
  checkPlainPage,
  checkTuning,
  Report,
} from './checks.mjs';
import { checkDevices, fakeDevices } from './devices.mjs';
import { checkFigures } from './figures.mjs';
import { checkGuides } from './guides.mjs';
import { checkOnnxRuntime } from './onnxruntime.mjs';
import { checkOpenedAgain } from './opened_again.mjs';
import { checkPlayground } from './playground.mjs';
import { checkRandom } from './random.mjs';
import { checkSaving } from './saving.mjs';
import { serve } from './server.mjs';
import { checkOneThread, checkThreads } from './threads.mjs';

const executablePath = '/usr/bin/chromium';
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  ...fakeDevices,
];

async function run(report) {
  const browser = await chromium.launch({ executablePath, args });
  const servers = [await serve(true), await serve(false)];
  const [isolated, plain] = servers;
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    const problems = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await report.check('package from a script tag, cross-origin isolated', () =>
      checkPlainPage(page, isolated.url, true),
    );
    await report.check('package from a script tag, not isolated', () =>
      checkPlainPage(page, plain.url, false),
    );
    await report.check('models leak nothing', () => checkMemory(page, isolated.url));
    await report.check('five thousand functions', () => checkManyFunctions(page, isolated.url));
    await report.check('long plans are compiled in the background', () =>
      checkLongPlans(page, isolated.url),
    );
    for (const { url } of [isolated, plain]) {
      await report.check('modules of fit are compiled in the background', () =>
        checkFirstStep(page, url),
      );
    }
    await report.check('a worker waits for a graph model', () => checkGraphModels(page, plain.url));
    await report.check('long plans are compiled once without workers', () =>
      checkNoWorkers(page, plain.url),
    );
    await report.check('tuned schedules are cached', () => checkTuning(page, isolated.url));
    await report.check('a page opened again compiles nothing', () =>
      checkOpenedAgain(page, isolated.url),
    );
    await report.check('saving, loading and data', () => checkSaving(page, isolated.url));
    await report.check('images and models as in ONNX Runtime Web', () =>
      checkOnnxRuntime(page, isolated.url),
    );
    await report.check('images, cameras and microphones', () => checkDevices(page, isolated.url));
    await report.check('figures of models, histories and tensors', () =>
      checkFigures(page, isolated.url),
    );
    await report.check('the pages of the guides answer', () => checkGuides(executablePath, args));
    await checkOps(report, page, isolated.url);
    await checkThreads(report, page, isolated.url);
    await checkRandom(report, page, isolated.url);
    await checkOneThread(report, page, plain.url);
    await checkMnist(report, page, isolated.url);
    await checkPlayground(report, page, isolated.url, {
      engine: 'chromium',
      canEmulate: true,
      plain: plain.url,
    });
    await report.check('no page reported an error', () => assert.deepEqual(problems, []));
  } finally {
    await browser.close();
    for (const server of servers) server.stop();
  }
}

const report = new Report();
if (existsSync(executablePath)) await run(report);
else report.skip('Chromium', `${executablePath} is missing`);
report.end();
