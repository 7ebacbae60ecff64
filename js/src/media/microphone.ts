/** Sound of a microphone as tensors: `data.microphone` of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { tensor } from '../tensor/create.js';
import type { Tensor2D, Tensor3D } from '../tensor/ranks.js';
import { checkPage, LiveIterator, openStream } from './stream.js';

/** Which microphone, and what is made of its sound. */
export interface MicrophoneConfig {
  /** Of the sound. Error: the device has another one. Default: that of the device. */
  sampleRateHz?: number;
  /** A power of 2 from 2^4 to 2^14. Default: 1024. */
  fftSize?: number;
  /** Frequencies of a frame that are given. Default: all, fftSize. */
  columnTruncateLength?: number;
  /** Default: 43. */
  numFramesPerSpectrogram?: number;
  audioTrackConstraints?: MediaTrackConstraints;
  /** From 0 to 1, of frames by those before. Default: 0. */
  smoothingTimeConstant?: number;
  /** Default: true. */
  includeSpectrogram?: boolean;
  /** Default: false. */
  includeWaveform?: boolean;
}

/** What a microphone gives at once. */
export interface Sound {
  /** [frames, columnTruncateLength, 1], decibels. */
  spectrogram: Tensor3D | undefined;
  /** [frames * fftSize, 1], from -1 to 1. */
  waveform: Tensor2D | undefined;
}

/** Pieces of sound one after the other. Made by `microphone`. */
export class MicrophoneIterator extends LiveIterator<Sound> {
  protected isClosed = false;
  readonly #size: number;
  readonly #frames: number;
  #rate: number | undefined;
  #stream: MediaStream | undefined;
  #context: AudioContext | undefined;
  #analyser: AnalyserNode | undefined;

  /** Errors: a size that is no such power of 2; neither kind of data. */
  constructor(private readonly config: MicrophoneConfig) {
    super();
    this.#size = config.fftSize || 1024;
    this.#frames = config.numFramesPerSpectrogram || 43;
    this.#rate = config.sampleRateHz;
    const exponent = Math.log2(this.#size);
    if (!(Number.isInteger(exponent) && exponent >= 4 && exponent <= 14)) {
      throw new LatheError(
        `Invalid fftSize: it must be a power of 2 between 2 to 4 and 2 to 14, but got ${this.#size}`,
      );
    }
    if (config.includeSpectrogram === false && config.includeWaveform !== true) {
      throw new LatheError(
        'Both includeSpectrogram and includeWaveform are false. At least one type of data should be returned.',
      );
    }
  }

  summary(): string {
    return 'microphone';
  }

  async start(): Promise<void> {
    const { audioTrackConstraints, smoothingTimeConstant = 0 } = this.config;
    this.#stream = await openStream({ audio: audioTrackConstraints ?? true, video: false });
    this.#context = new AudioContext();
    const { sampleRate } = this.#context;
    if ((this.#rate ||= sampleRate) !== sampleRate) {
      const wanted = this.#rate;
      this.stop();
      throw new LatheError(`Mismatch in sampling rate: Expected: ${wanted}; Actual: ${sampleRate}`);
    }
    this.#analyser = this.#context.createAnalyser();
    this.#analyser.fftSize = 2 * this.#size;
    this.#analyser.smoothingTimeConstant = smoothingTimeConstant;
    this.#context.createMediaStreamSource(this.#stream).connect(this.#analyser);
    this.isClosed = false;
  }

  /** Samples each second. */
  getSampleRate(): number {
    return this.#rate!;
  }

  /** A frame whenever as many samples have come; where nothing has come at all the frames before them are zeros. */
  protected async read(): Promise<Sound> {
    const { includeSpectrogram = true, includeWaveform = false } = this.config;
    const { columnTruncateLength: columns = this.#size } = this.config;
    const [size, frames] = [this.#size, this.#frames];
    const heights: Float32Array[] = [];
    const samples: Float32Array[] = [];
    for (let frame = 0; frame < frames; ++frame) {
      await new Promise((done) => setTimeout(done, (1000 * size) / this.#rate!));
      const [spectrum, wave] = [new Float32Array(size), new Float32Array(size)];
      if (includeSpectrogram) {
        this.#analyser!.getFloatFrequencyData(spectrum);
        if (spectrum[0] === -Infinity) break;
        heights.push(spectrum.subarray(0, columns));
      }
      this.#analyser!.getFloatTimeDomainData(wave);
      samples.push(wave);
    }
    return {
      spectrogram: includeSpectrogram
        ? (joined(heights, [frames, columns, 1]) as Tensor3D)
        : undefined,
      waveform: includeWaveform ? (joined(samples, [frames * size, 1]) as Tensor2D) : undefined,
    };
  }

  stop(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#analyser?.disconnect();
    void this.#context?.close();
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
  }

  /** Error: there is no end. */
  toArray(): never {
    throw new LatheError('Can not convert infinite audio stream to array.');
  }
}

/** Parts of one length at the end of a tensor. */
function joined(parts: readonly Float32Array[], shape: readonly number[]) {
  const values = new Float32Array(shape.reduce((product, each) => product * each, 1));
  let at = values.length;
  for (const part of [...parts].reverse()) values.set(part, (at -= part.length));
  return tensor(values, shape);
}

/** As `data.microphone`. */
export async function microphone(config: MicrophoneConfig = {}): Promise<MicrophoneIterator> {
  checkPage('microphone API is only supported in browser environment.');
  const iterator = new MicrophoneIterator(config);
  await iterator.start();
  return iterator;
}
