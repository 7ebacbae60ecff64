// Checks of the playground's picture of the network and of its tour.
import assert from 'node:assert/strict';

/** Code of the page: the number of pixels of the picture in the colors of values above and below zero. */
const countColors = `(() => {
  const canvas = document.getElementById('picture-canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let [above, below] = [0, 0];
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] < 200 || Math.abs(data[at] - data[at + 2]) < 60) continue;
    if (data[at] > data[at + 2]) below += 1;
    else above += 1;
  }
  return { above, below };
})()`;

/** The picture shows the layers and their activations, and a replay colors one layer after the other. */
export async function checkPicture(driver) {
  await driver.run(`document.getElementById('picture').scrollIntoView()`);
  const label = `document.getElementById('picture-canvas').ariaLabel`;
  await driver.until(`${label}.includes('strongest output')`);
  assert.match(await driver.run(label), /Input 28 × 28 × 1, Dense 128, Dense 10\. The strongest/);
  const { above, below } = await driver.run(countColors);
  assert.ok(above > 500 && below > 100, `colored pixels: ${above} and ${below}`);
  const duringReplay = await driver.run(`(async () => {
    document.getElementById('replay').click();
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    await frame();
    await frame();
    return ${countColors};
  })()`);
  assert.ok(duringReplay.above < above, 'layers not yet reached are pale');
  await driver.run('scrollTo(0, 0)');
  return `${above} and ${below} colored pixels`;
}

/** The tour has six steps, each with a title, a text and a picture; once it goes one step back. */
export async function checkTour(driver, axe) {
  await driver.click('#open-tour');
  await driver.until(`document.getElementById('tour').open`);
  const titles = [];
  for (let step = 1; step <= 6; ++step) {
    await driver.untilText('tour-count', `/^${step} of 6$/`);
    titles.push(await driver.text('tour-title'));
    assert.ok((await driver.text('tour-text')).length > 60, 'each step has a text');
    const width = await driver.run(
      `[...document.querySelectorAll('#tour-picture > *')].reduce((sum, child) => sum + child.getBoundingClientRect().width, 0)`,
    );
    assert.ok(width > 100, `${titles.at(-1)}: no picture`);
    if (axe) await driver.runAxe(`tour, step ${step}`);
    // One step back, and forward again.
    if (step === 3) {
      await driver.click('#tour-back');
      await driver.untilText('tour-count', '/^2 of 6$/');
      await driver.click('#tour-next');
    }
    await driver.click('#tour-next');
  }
  await driver.until(`!document.getElementById('tour').open`);
  assert.equal(new Set(titles).size, 6);
  return titles.join('; ');
}
