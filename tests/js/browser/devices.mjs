// Pictures of a page as tensors, beside TensorFlow.js; cameras and microphones that Chromium imitates.
import assert from 'node:assert/strict';

/** What a browser is started with, so that it has devices and asks nobody. */
export const fakeDevices = [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
];

export async function checkDevices(page, url) {
  await page.goto(`${url}/tests/js/browser/page.html`);
  const ask = (name) =>
    page.evaluate(async (what) => {
      const tests = await import('/tests/js/browser/devices_page.mjs');
      return tests[what]();
    }, name);
  for (const [source, channels, ours, theirs, aside] of await ask('fromPixels')) {
    assert.deepEqual(ours, theirs, `fromPixels of ${source}, ${channels}`);
    assert.deepEqual(aside, theirs, `fromPixelsAsync of ${source}, ${channels}`);
  }
  for (const [what, ours, theirs, drawn] of await ask('toPixels')) {
    assert.deepEqual(ours, theirs, `toPixels of ${what}`);
    assert.deepEqual(drawn, theirs.drawn, `draw of ${what}`);
  }
  const { errors: refusals, video, ...camera } = await ask('camera');
  assert.deepEqual(camera, {
    whole: [camera.whole[0], 'int32', true],
    next: [camera.whole[0], false],
    end: { value: null, done: true },
    count: 2,
    after: { value: null, done: true },
    resized: { false: [[40, 60, 3], 'float32', true], true: [[40, 60, 3], 'float32', true] },
    small: [camera.small[0], 'int32'],
  });
  assert.equal(camera.whole[0].length, 3);
  assert.deepEqual(video.shape, [4, 5, 3]);
  assert.match(video.early, /^The video element has not loaded data yet/);
  assert.match(
    refusals[0],
    /^Please provide webcam video element, or resizeWidth and resizeHeight/,
  );
  assert.match(refusals[1], /^Invalid webcam facing mode: up\. Please provide 'user' or/);
  assert.equal(refusals[2], 'Can not convert infinite video stream to array.');
  const { errors, ...sound } = await ask('sound');
  assert.deepEqual(sound, {
    spectrogram: [5, 100, 1],
    waveform: [5 * 256, 1],
    isRate: true,
    end: { value: null, done: true },
    only: [[2, 64, 1], true],
  });
  assert.match(errors[0], /^Invalid fftSize: it must be a power of 2 .* but got 1000$/);
  assert.match(errors[1], /^Both includeSpectrogram and includeWaveform are false\./);
  assert.match(errors[2], /^Mismatch in sampling rate: Expected: 1234; Actual: \d+$/);
  assert.equal(errors[3], 'Can not convert infinite audio stream to array.');
}
