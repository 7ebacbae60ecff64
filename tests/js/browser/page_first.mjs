// The playground on the first visit: it trains by itself, nothing moves, and it states what to do next.
import assert from 'node:assert/strict';
import { speedupOf } from '../../../bench/summary.mjs';

const sizes = [
  ['wide', 1400, 900],
  ['phone', 390, 844],
];
/** Steps after which the network is sure of the example. */
const enoughSteps = 100;
const settled = '/^(Trained|Stopped)/';

/** Watches from the first moment for parts that move without a person's doing. */
const watchShifts = `
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      const what = sources.map(({ node }) => node?.id || node?.className || node?.nodeName);
      if (!hadRecentInput) shifts.push({ value, what });
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

/** What has to be seen without scrolling. */
const belowScreen = `['start', 'accuracy-plot', 'loss-plot', 'pad', 'bars']
  .filter((id) => document.getElementById(id).getBoundingClientRect().bottom > innerHeight).join()`;

/** At both sizes: on the first screen everything that matters, which stays where it is while it trains by itself. */
export async function checkFirstSight(driver, address) {
  const notes = [];
  for (const [name, width, height] of sizes) {
    await driver.resize(width, height);
    const begun = Date.now();
    await driver.page.goto(address);

    await driver.run(watchShifts);
    const pitch = await driver.run(`document.querySelector('.pitch').textContent`);
    assert.match(pitch, /compiler.*npm/s);
    assert.equal(/([\d.]+)\s+times as fast/.exec(pitch)?.[1], speedupOf('train'));
    assert.equal(await driver.run(`document.querySelectorAll('header .call').length`), 2);
    assert.equal(await driver.run(belowScreen), '', `not on the first screen, ${name}`);
    await driver.untilText('status', '/^Epoch/');
    await driver.untilText('status', settled);
    notes.push(`${((Date.now() - begun) / 1000).toFixed(1)} s`);
    assert.equal(await driver.text('draw-title'), 'Now draw a digit');
    const story = await driver.text('story');
    const steps = Number(/learned in ([\d,]+) steps\./.exec(story)[1].replaceAll(',', ''));
    // It trains for 6 s: how many steps these are, and so how sure it is, depends on the machine.
    const isSlow = steps < enoughSteps;
    const guess = isSlow ? /^(3, I think|Not sure: 3 )/ : /^3, I think \((9\d|100)\u00a0%\)$/;
    assert.match(await driver.text('guess'), guess, `it reads the example after ${steps} steps`);
    if (!isSlow) assert.match(story, /\. It is right about/);
    assert.equal(await driver.run('document.activeElement === document.body'), true, 'focus stays');
    assert.equal(await driver.run('scrollY'), 0);
    const shifts = await driver.run('shifts');
    const sum = shifts.reduce((total, { value }) => total + value, 0);
    assert.ok(sum < 0.005, `${name}: moved by ${sum}: ${JSON.stringify(shifts)}`);
    await driver.shootScreen(`playground-first-${name}`);
    await driver.run('localStorage.clear()');
  }
  await driver.resize(1280, 900);
  return `reads the example after ${notes.join(' and ')}`;
}

/** With prefers-reduced-motion the person starts the training. */
export async function checkRest(driver, address) {
  await driver.page.emulateMedia({ reducedMotion: 'reduce' });
  await driver.open(address);
  await driver.run(`new Promise((done) => setTimeout(done, 300))`);
  assert.equal(await driver.text('status'), 'Ready');
  await driver.page.emulateMedia({ reducedMotion: 'no-preference' });
  await driver.run('localStorage.clear()');
}

/** Without scripts, and where they do not arrive, the page says so. */
export async function checkNoScript(driver, address) {
  const context = driver.page.context();
  const plain = await context.browser().newContext({ javaScriptEnabled: false });
  const page = await plain.newPage();
  await page.goto(address);
  assert.match(await page.textContent('noscript'), /needs JavaScript/);
  await plain.close();
  const broken = await context.newPage();
  await broken.clock.install();
  await broken.route('**/*.js', (route) => route.abort());
  await broken.goto(address);
  await broken.clock.fastForward(21000);
  assert.match(await broken.textContent('#status'), /does not start/);
  await broken.close();
}

/** What was changed is not trained by itself, and Stop ends what was begun. */
export async function checkStopping(driver, address) {
  await driver.page.goto(address);
  await driver.untilText('status', '/^Epoch/');
  await driver.click('#stop');
  await driver.untilText('status', '/^Stopped$/');
  await driver.set('#epochs', '9');
  await driver.open(address);
  assert.equal(await driver.text('draw-title'), 'What is this digit?');
  await driver.run(`new Promise((done) => setTimeout(done, 300))`);
  assert.equal(await driver.text('status'), 'Ready');
  await driver.run('localStorage.clear()');
}
