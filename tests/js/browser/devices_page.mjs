// Images, cameras and microphones in a page, by either library.
import * as tl from '/js/dist/tfjs.js';

await import('/node_modules/@tensorflow/tfjs/dist/tf.min.js');
const { tf } = globalThis;
await tf.setBackend('cpu');
await tl.ready();

const [width, height] = [5, 4];
const plain = (x) => ({ shape: x.shape, dtype: x.dtype, values: [...x.dataSync()] });

/** An opaque image, so that no canvas changes its colors. */
function testImage() {
  const data = Uint8ClampedArray.from({ length: 4 * width * height }, (_, at) =>
    at % 4 === 3 ? 255 : (37 * at) % 256,
  );
  return new ImageData(data, width, height);
}

async function sources() {
  const data = testImage();
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  canvas.getContext('2d').putImageData(data, 0, 0);
  const offscreen = new OffscreenCanvas(width, height);
  offscreen.getContext('2d').putImageData(data, 0, 0);
  const image = new Image();
  image.src = canvas.toDataURL('image/png');
  await image.decode();
  const bitmap = await createImageBitmap(data);
  const pixels = { data: new Uint8Array(data.data), width, height };
  return { data, canvas, offscreen, image, bitmap, pixels };
}

/** Tensors of each source in both libraries, with one, three and four channels, synchronously and asynchronously. */
export async function fromPixels() {
  const results = [];
  for (const [name, source] of Object.entries(await sources())) {
    for (const channels of [undefined, 1, 4]) {
      const [ours, theirs] = [tl, tf].map((lib) => plain(lib.browser.fromPixels(source, channels)));
      const aside = plain(await tl.browser.fromPixelsAsync(source, channels));
      results.push([name, channels ?? 3, ours, theirs, aside]);
    }
  }
  return results;
}

/** The pixels of tensors, drawn to a canvas or not. */
export async function toPixels() {
  const results = [];
  for (const shape of [
    [4, 5],
    [4, 5, 1],
    [4, 5, 3],
    [4, 5, 4],
  ]) {
    for (const dtype of ['int32', 'float32']) {
      const size = shape.reduce((product, each) => product * each, 1);
      const opaque = (at) => (shape[2] === 4 && at % 4 === 3 ? 255 : (53 * at) % 256);
      const values = Array.from({ length: size }, (_, at) =>
        dtype === 'int32' ? opaque(at) : opaque(at) / 255,
      );
      const made = [];
      for (const lib of [tl, tf]) {
        const x = lib.tensor(values, shape, dtype);
        const canvas = document.createElement('canvas');
        const pixels = [...(await lib.browser.toPixels(x, canvas))];
        const drawn = canvas.getContext('2d').getImageData(0, 0, 5, 4).data;
        made.push({ pixels, drawn: [...drawn], size: [canvas.width, canvas.height] });
      }
      const canvas = document.createElement('canvas');
      tl.browser.draw(tl.tensor(values, shape, dtype), canvas);
      const drawn = canvas.getContext('2d').getImageData(0, 0, 5, 4).data;
      results.push([`${shape} ${dtype}`, ...made, [...drawn]]);
    }
  }
  return results;
}

/** A video of the content of a canvas. */
async function video() {
  const { canvas } = await sources();
  const element = document.createElement('video');
  element.muted = true;
  const early = messageOf(() => tl.browser.fromPixels(element));
  element.srcObject = canvas.captureStream(30);
  const loaded = new Promise((done) => (element.onloadeddata = done));
  const draw = setInterval(() => canvas.getContext('2d').putImageData(testImage(), 0, 0), 20);
  await element.play();
  await loaded;
  clearInterval(draw);
  const { shape } = tl.browser.fromPixels(element);
  return { early, shape };
}

function messageOf(action) {
  try {
    action();
    return undefined;
  } catch ({ message }) {
    return message;
  }
}

const rejection = (promise) =>
  promise.then(
    () => undefined,
    ({ message }) => message,
  );

export async function camera() {
  const videoElement = Object.assign(document.createElement('video'), { width: 320, height: 240 });
  const cam = await tl.data.webcam(videoElement);
  const captured = await cam.capture();
  const { value, done } = await cam.next();
  cam.stop();
  const end = await cam.next();
  await cam.start();
  let count = 0;
  for await (const each of cam) {
    each.dispose();
    if (++count === 2) break;
  }
  const after = await cam.next();
  const resized = {};
  for (const centerCrop of [false, true]) {
    const video = Object.assign(document.createElement('video'), { width: 320, height: 240 });
    const other = await tl.data.webcam(video, { resizeWidth: 60, resizeHeight: 40, centerCrop });
    const found = await other.capture();
    resized[centerCrop] = [found.shape, found.dtype, found.max().dataSync()[0] > 0];
    other.stop();
  }
  const hidden = await tl.data.webcam(null, { resizeWidth: 64, resizeHeight: 48 });
  const small = await hidden.capture();
  hidden.stop();
  return {
    captured: [captured.shape, captured.dtype, captured.max().dataSync()[0] > 0],
    next: [value.shape, done],
    end,
    count,
    after,
    resized,
    small: [small.shape, small.dtype],
    video: await video(),
    errors: [
      await rejection(tl.data.webcam()),
      await rejection(tl.data.webcam(videoElement, { facingMode: 'up' })),
      messageOf(() => hidden.toArray()),
    ],
  };
}

export async function sound() {
  const options = { fftSize: 256, numFramesPerSpectrogram: 5, columnTruncateLength: 100 };
  const mic = await tl.data.microphone({ ...options, includeWaveform: true });
  const { spectrogram, waveform } = await mic.capture();
  const rate = mic.getSampleRate();
  mic.stop();
  const end = await mic.next();
  const plainOne = await tl.data.microphone({ fftSize: 64, numFramesPerSpectrogram: 2 });
  const only = await plainOne.capture();
  plainOne.stop();
  return {
    spectrogram: spectrogram.shape,
    waveform: waveform.shape,
    isRate: rate > 1000,
    end,
    only: [only.spectrogram.shape, only.waveform === undefined],
    errors: [
      await rejection(tl.data.microphone({ fftSize: 1000 })),
      await rejection(tl.data.microphone({ includeSpectrogram: false })),
      await rejection(tl.data.microphone({ sampleRateHz: 1234 })),
      messageOf(() => mic.toArray()),
    ],
  };
}
