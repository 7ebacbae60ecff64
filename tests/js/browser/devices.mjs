// Images of a page as tensors, compared with TensorFlow.js; fake cameras and microphones of Chromium.
import assert from 'node:assert/strict';

/** Arguments that start a browser with fake devices and without permission prompts. */
export const fakeDevices = [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
];

export async function checkDevices(page, url) {
  await page.goto(`${url}/tests/js/browser/page.html`);
  const call = (name) =>
    page.evaluate(async (what) => {
      const tests = await import('/tests/js/browser/devices_page.mjs');
      return tests[what]();
    }, name);
  for (const [source, channels, ours, theirs, aside] of await call('fromPixels')) {
    assert.deepEqual(ours, theirs, `fromPixels of ${source}, ${channels}`);
    assert.deepEqual(aside, theirs, `fromPixelsAsync of ${source}, ${channels}`);
  }
  for (const [what, ours, theirs, drawn] of await call('toPixels')) {
    assert.deepEqual(ours, theirs, `toPixels of ${what}`);
    assert.deepEqual(drawn, theirs.drawn, `draw of ${what}`);
  }
  const { errors: refusals, video, ...camera } = await call('camera');
  assert.deepEqual(camera, {
    captured: [camera.captured[0], 'int32', true],
    next: [camera.captured[0], false],
    end: { value: null, done: true },
    count: 2,
    after: { value: null, done: true },
    resized: { false: [[40, 60, 3], 'float32', true], true: [[40, 60, 3], 'float32', true] },
    small: [camera.small[0], 'int32'],
  });
  assert.equal(camera.captured[0].length, 3);
  assert.deepEqual(video.shape, [4, 5, 3]);
  assert.match(video.early, /^The video element has not loaded data yet/);
  assert.match(
    refusals[0],
    /^Please provide webcam video element, or resizeWidth and resizeHeight/,
  );
  assert.match(refusals[1], /^Invalid webcam facing mode: up\. Please provide 'user' or/);
  assert.equal(refusals[2], 'Can not convert infinite video stream to array.');
  const { errors, ...sound } = await call('sound');
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
