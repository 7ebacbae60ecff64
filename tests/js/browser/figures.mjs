// Figures of `tensorlathe/show` in a page: light and dark colors, within the page's width, names that are no markup.
import assert from 'node:assert/strict';

// Runs in the page; gives what the figures look like.
const draw = `(async () => {
  const { show } = await import('/js/dist/show/index.js');
  const tl = await import('/js/dist/index.js');
  await tl.ready();
  const model = tl.sequential({ layers: [tl.layers.dense({ units: 2, inputShape: [3] })] });
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  const history = await model.fit(tl.ones([4, 3]), tl.ones([4, 2]), { epochs: 3 });
  history.history['<img src=x onerror="window.wasRun = true">'] = [1, 2, 3];
  document.body.innerHTML = '<div style="width: 300px"></div>';
  const pixels = tl.tensor(Float32Array.from({ length: 64 }, (_, at) => at % 8 / 7), [8, 8]);
  const elements = [history, model, pixels, tl.scalar(1)].map((each) => show(each).toElement());
  document.body.firstChild.append(...elements);
  const [, , image] = elements.map((each) => each.querySelector('image'));
  await new Promise((done, fail) => {
    const loaded = new Image();
    loaded.onload = done;
    loaded.onerror = () => fail(new Error('the image of a tensor is damaged'));
    loaded.src = image.getAttribute('href');
  });
  const svg = elements[0].querySelector('svg');
  const colorOf = (query) => getComputedStyle(svg.querySelector(query)).fill;
  return {
    colors: [colorOf('.back'), colorOf('text')],
    fits: elements.every((each) => each.firstChild.getBoundingClientRect().width <= 300),
    boxes: elements[1].querySelectorAll('rect.node').length,
    images: document.querySelectorAll('img').length,
    number: elements[3].textContent,
    wasRun: window.wasRun === true,
  };
})()`;

export async function checkFigures(page, url) {
  const rest = { fits: true, boxes: 2, images: 0, number: 'Tensor: float32 []\n1', wasRun: false };
  for (const [colorScheme, ...colors] of [
    ['light', 'rgb(255, 255, 255)', 'rgb(34, 34, 34)'],
    ['dark', 'rgb(27, 30, 35)', 'rgb(228, 230, 232)'],
  ]) {
    await page.emulateMedia({ colorScheme });
    await page.goto(`${url}/tests/js/browser/page.html`);
    assert.deepEqual(await page.evaluate(draw), { colors, ...rest });
  }
  await page.emulateMedia({ colorScheme: null });
}
