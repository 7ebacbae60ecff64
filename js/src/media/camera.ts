/** Pictures of a camera as tensors: `data.webcam` of TensorFlow.js. Knows no operations. */
import { LatheError } from '../base/errors.js';
import type { Tensor3D } from '../tensor/ranks.js';
import { checkPage, LiveIterator, openStream } from './stream.js';

/** Which camera, and what is made of its pictures. */
export interface WebcamConfig {
  /** Which side it looks to. Default: 'user'. */
  facingMode?: 'user' | 'environment';
  deviceId?: string;
  /** Both, or pictures stay as they are. */
  resizeWidth?: number;
  resizeHeight?: number;
  /** Whether the middle is cut out, else all is resized. Default: false. */
  centerCrop?: boolean;
}

/** The part of a picture that is seen, from top and left to bottom and right, all of it from 0 to 1; and its height and width then. */
export interface Frame {
  box: [number, number, number, number];
  size: [number, number];
}

/** The picture of now as a tensor, all of it where there is no frame. */
export type Read = (video: HTMLVideoElement, frame?: Frame) => Tensor3D;

/** Pictures [height, width, 3]: int32 from 0 to 255, resized ones float32. Made by `webcam`. */
export class WebcamIterator extends LiveIterator<Tensor3D> {
  protected isClosed = true;
  #stream: MediaStream | undefined;

  constructor(
    private readonly video: HTMLVideoElement,
    private readonly config: WebcamConfig,
    private readonly picture: Read,
  ) {
    super();
  }

  summary(): string {
    return 'webcam';
  }

  async start(): Promise<void> {
    const { video, config } = this;
    const { facingMode = 'user', deviceId } = config;
    if (!['user', 'environment'].includes(facingMode)) {
      throw new LatheError(
        `Invalid webcam facing mode: ${facingMode}. Please provide 'user' or 'environment'`,
      );
    }
    const { width, height } = video;
    const wanted = { ...(deviceId === undefined ? {} : { deviceId }), facingMode, width, height };
    this.#stream = await openStream({ video: wanted });
    const loaded = new Promise((done) =>
      video.addEventListener('loadeddata', done, { once: true }),
    );
    video.srcObject = this.#stream;
    void video.play();
    this.isClosed = false;
    await loaded;
  }

  protected async read(): Promise<Tensor3D> {
    const { width, height } = this.video;
    const { resizeWidth, resizeHeight, centerCrop } = this.config;
    const isOther = width !== resizeWidth || height !== resizeHeight;
    if (!resizeWidth || !resizeHeight || !isOther) return this.picture(this.video);
    const [across, down] = centerCrop ? [resizeWidth / width, resizeHeight / height] : [1, 1];
    return this.picture(this.video, {
      box: [(1 - down) / 2, (1 - across) / 2, (1 + down) / 2, (1 + across) / 2],
      size: [resizeHeight, resizeWidth],
    });
  }

  stop(): void {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.video.srcObject = null;
    this.isClosed = true;
  }

  /** Error: there is no end. */
  toArray(): never {
    throw new LatheError('Can not convert infinite video stream to array.');
  }
}

/** As `data.webcam`. */
export async function webcam(
  picture: Read,
  video?: HTMLVideoElement | null,
  config: WebcamConfig = {},
): Promise<WebcamIterator> {
  checkPage('tf.data.webcam is only supported in browser environment.');
  let shown = video;
  if (!shown) {
    const { resizeWidth: width, resizeHeight: height } = config;
    if (!width || !height) {
      throw new LatheError(
        'Please provide webcam video element, or resizeWidth and resizeHeight to create a hidden video element.',
      );
    }
    shown = Object.assign(document.createElement('video'), { width, height });
  }
  const iterator = new WebcamIterator(shown, config, picture);
  await iterator.start();
  return iterator;
}
