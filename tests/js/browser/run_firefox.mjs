// Runs the package in headless Firefox; with --all also each operation, random programs and the playground. The last line is N
// passed, M failed, K skipped.
import { existsSync } from 'node:fs';
import puppeteer from 'puppeteer-core';
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
import { checkPlayground } from './playground.mjs';
import { checkRandom } from './random.mjs';
import { checkSaving } from './saving.mjs';
import { serve } from './server.mjs';
import { checkOneThread, checkThreads } from './threads.mjs';

const executablePath = '/usr/bin/firefox-esr';

async function run(report) {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    protocolTimeout: 600000,
  });
  const servers = [await serve(true), await serve(false)];
  const [isolated, plain] = servers;
  try {
    const page = await browser.newPage();
    await report.check('package from a script tag, cross-origin isolated', () =>
      checkPlainPage(page, isolated.url, true),
    );
    await report.check('package from a script tag, not isolated', () =>
      checkPlainPage(page, plain.url, false),
    );
    await report.check('models leak nothing', () => checkMemory(page, plain.url));
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
    await report.check('saving, loading and data', () => checkSaving(page, isolated.url));
    await checkThreads(report, page, isolated.url);
    await checkOneThread(report, page, plain.url);
    await checkMnist(report, page, plain.url);
    if (!process.argv.includes('--all')) return;
    await checkOps(report, page, isolated.url);
    await checkRandom(report, page, isolated.url);
    await checkPlayground(report, page, isolated.url, {
      engine: 'firefox',
      plain: plain.url,
    });
  } finally {
    await browser.close();
    for (const server of servers) server.stop();
  }
}

const report = new Report();
if (existsSync(executablePath)) await run(report);
else report.skip('Firefox', `${executablePath} is missing`);
report.end();
