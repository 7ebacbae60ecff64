/** Camera frames as tensors: `data.webcam` of TensorFlow.js. Independent of the operations. */
import { LatheError } from '../base/errors.js';
import type { Tensor3D } from '../tensor/ranked_tensors.js';
import { checkPage, LiveIterator, openStream } from './stream.js';

/** Which camera, and how its frames are processed. */
export interface WebcamConfig {
  /** Which way it faces. Default: 'user'. */
  facingMode?: 'user' | 'environment';
  deviceId?: string;
  /** Set both to resize; by default frames keep their size. */
  resizeWidth?: number;
  resizeHeight?: number;
  /** Whether to crop the center; else the full frame is resized. Default: false. */
  centerCrop?: boolean;
}

/** The crop [top, left, bottom, right] in fractions of the frame, and the height and width of the result. */
export interface Frame {
  box: [number, number, number, number];
  size: [number, number];
}

/** The current frame as a tensor, uncropped without `frame`. */
export type Read = (video: HTMLVideoElement, frame?: Frame) => Tensor3D;

/** Iterates over frames [height, width, 3]: int32 from 0 to 255, resized ones float32. Made by `webcam`. */
export class WebcamIterator extends LiveIterator<Tensor3D> {
  protected isClosed = true;
  #stream: MediaStream | undefined;

  constructor(
    private readonly video: HTMLVideoElement,
    private readonly config: WebcamConfig,
    private readonly readFrame: Read,
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
    const constraints = {
      ...(deviceId === undefined ? {} : { deviceId }),
      facingMode,
      width,
      height,
    };
    this.#stream = await openStream({ video: constraints });
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
    if (!resizeWidth || !resizeHeight || !isOther) return this.readFrame(this.video);
    const [across, down] = centerCrop ? [resizeWidth / width, resizeHeight / height] : [1, 1];
    return this.readFrame(this.video, {
      box: [(1 - down) / 2, (1 - across) / 2, (1 + down) / 2, (1 + across) / 2],
      size: [resizeHeight, resizeWidth],
    });
  }

  stop(): void {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.video.srcObject = null;
    this.isClosed = true;
  }

  /** Error: the stream is infinite. */
  toArray(): never {
    throw new LatheError('Can not convert infinite video stream to array.');
  }
}

/** As `data.webcam`. */
export async function webcam(
  readFrame: Read,
  video?: HTMLVideoElement | null,
  config: WebcamConfig = {},
): Promise<WebcamIterator> {
  checkPage('tf.data.webcam is only supported in browser environment.');
  let videoElement = video;
  if (!videoElement) {
    const { resizeWidth: width, resizeHeight: height } = config;
    if (!width || !height) {
      throw new LatheError(
        'Please provide webcam video element, or resizeWidth and resizeHeight to create a hidden video element.',
      );
    }
    videoElement = Object.assign(document.createElement('video'), { width, height });
  }
  const iterator = new WebcamIterator(videoElement, config, readFrame);
  await iterator.start();
  return iterator;
}
