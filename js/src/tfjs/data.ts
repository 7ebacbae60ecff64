/** The namespace `data` of TensorFlow.js: datasets, and the devices of a page. */
export * from '../data/index.js';
export type { WebcamConfig, WebcamIterator } from '../media/camera.js';
export type { MicrophoneConfig, MicrophoneIterator, Sound } from '../media/microphone.js';
export { microphone, webcam } from './data/devices.js';
export { type ChunkOptions, FileDataSource, URLDataSource } from './data/data_sources.js';
export { func, TextLineDataset } from './data/datasets.js';
export { version_data } from './version.js';
