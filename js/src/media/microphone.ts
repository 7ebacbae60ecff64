/** Sound of a microphone as tensors: `data.microphone` of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { tensor } from '../tensor/create.js';
import type { Tensor2D, Tensor3D } from '../tensor/ranked_tensors.js';
import { checkPage, LiveIterator, openStream } from './stream.js';

/** Which microphone, and how its sound is analyzed. */
export interface MicrophoneConfig {
  /** Sampling rate. Error: the device has another one. Default: that of the device. */
  sampleRateHz?: number;
  /** A power of 2 from 2^4 to 2^14. Default: 1024. */
  fftSize?: number;
  /** Frequency bins per frame that are returned. Default: all, fftSize. */
  columnTruncateLength?: number;
  /** Frames per spectrogram. Default: 43. */
  numFramesPerSpectrogram?: number;
  audioTrackConstraints?: MediaTrackConstraints;
  /** Smoothing over successive frames, from 0 to 1. Default: 0. */
  smoothingTimeConstant?: number;
  /** Whether to return spectrograms. Default: true. */
  includeSpectrogram?: boolean;
  /** Whether to return waveforms. Default: false. */
  includeWaveform?: boolean;
}

/** One element of a microphone iterator. */
export interface Sound {
  /** [frames, columnTruncateLength, 1], decibels. */
  spectrogram: Tensor3D | undefined;
  /** [frames * fftSize, 1], from -1 to 1. */
  waveform: Tensor2D | undefined;
}

/** Iterates over segments of sound. Made by `microphone`. */
export class MicrophoneIterator extends LiveIterator<Sound> {
  protected isClosed = false;
  readonly #size: number;
  readonly #frames: number;
  #rate: number | undefined;
  #stream: MediaStream | undefined;
  #context: AudioContext | undefined;
  #analyser: AnalyserNode | undefined;

  /** Errors: an invalid fftSize; neither kind of data. */
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
      const expectedRate = this.#rate;
      this.stop();
      throw new LatheError(
        `Mismatch in sampling rate: Expected: ${expectedRate}; Actual: ${sampleRate}`,
      );
    }
    this.#analyser = this.#context.createAnalyser();
    this.#analyser.fftSize = 2 * this.#size;
    this.#analyser.smoothingTimeConstant = smoothingTimeConstant;
    this.#context.createMediaStreamSource(this.#stream).connect(this.#analyser);
    this.isClosed = false;
  }

  /** Samples per second. */
  getSampleRate(): number {
    return this.#rate!;
  }

  /** Collects a frame per `fftSize` samples; frames before the first sound are zeros. */
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
        ? (concatenate(heights, [frames, columns, 1]) as Tensor3D)
        : undefined,
      waveform: includeWaveform
        ? (concatenate(samples, [frames * size, 1]) as Tensor2D)
        : undefined,
    };
  }

  stop(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#analyser?.disconnect();
    void this.#context?.close();
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
  }

  /** Error: the stream is infinite. */
  toArray(): never {
    throw new LatheError('Can not convert infinite audio stream to array.');
  }
}

/** Concatenates parts of equal length at the end of a tensor. */
function concatenate(parts: readonly Float32Array[], shape: readonly number[]) {
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
