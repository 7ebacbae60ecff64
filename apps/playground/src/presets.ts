// Networks to begin with, for the data at hand.
import { type DataSet, isImage, isPlane, outputWidth } from './data/data_set';
import type { LayerSpec, Network } from './network';
import type { Settings } from './store';

const layer = (name: string, config: Record<string, unknown> = {}): LayerSpec => ({
  class: name,
  config,
});

const dense = (units: number, activation?: string) =>
  layer('Dense', { units, ...(activation === undefined ? {} : { activation }) });

function output(data: DataSet): LayerSpec {
  return data.classes === undefined ? dense(1) : dense(outputWidth(data), 'softmax');
}

const flat = (data: DataSet) => (isImage(data) ? [layer('Flatten')] : []);

interface Preset {
  name: string;
  fits: (data: DataSet) => boolean;
  layers: (data: DataSet) => LayerSpec[];
}

export const presets: Preset[] = [
  {
    name: 'One hidden layer',
    fits: () => true,
    layers: (data) => [...flat(data), dense(isImage(data) ? 128 : 32, 'relu'), output(data)],
  },
  {
    name: 'Linear',
    fits: () => true,
    layers: (data) => [...flat(data), output(data)],
  },
  {
    name: 'Deep, with dropout',
    fits: () => true,
    layers: (data) => [
      ...flat(data),
      dense(isImage(data) ? 256 : 64, 'relu'),
      layer('Dropout', { rate: 0.2 }),
      dense(isImage(data) ? 128 : 32, 'relu'),
      output(data),
    ],
  },
  {
    name: 'Convolutions',
    fits: isImage,
    layers: (data) => [
      layer('Conv2D', { filters: 8, kernelSize: 5, activation: 'relu' }),
      layer('MaxPooling2D'),
      layer('Conv2D', { filters: 16, kernelSize: 3, activation: 'relu' }),
      layer('MaxPooling2D'),
      layer('Flatten'),
      output(data),
    ],
  },
  {
    name: 'Convolutions, normalized',
    fits: isImage,
    layers: (data) => [
      layer('Conv2D', { filters: 16, kernelSize: 3, useBias: false }),
      layer('BatchNormalization'),
      layer('ReLU'),
      layer('MaxPooling2D'),
      layer('Conv2D', { filters: 32, kernelSize: 3, activation: 'relu' }),
      layer('GlobalAveragePooling2D'),
      output(data),
    ],
  },
  {
    name: 'LSTM over the lines of the image',
    fits: isImage,
    layers: (data) => [
      layer('Reshape', { targetShape: data.shape.slice(0, 2) }),
      layer('LSTM', { units: 48 }),
      output(data),
    ],
  },
  {
    name: 'Two hidden layers',
    fits: isPlane,
    layers: (data) => [dense(32, 'relu'), dense(32, 'relu'), output(data)],
  },
];

/** The first of them that suits the data. */
export const firstNetwork = (data: DataSet): Network => ({
  layers: (isPlane(data) ? presets.at(-1)! : presets[0]!).layers(data),
});

/** So many steps are enough to see whether a network learns. */
const targetSteps = 1500;
const clamp = (value: number, min: number, max: number) => Math.min(max, Math.max(min, value));

/** Batches that divide few rows often enough, and epochs for about as many steps whatever the rows. */
export function fittedSettings(data: DataSet): Partial<Settings> {
  const { train } = data;
  if (isPlane(data)) return { batchSize: 16, epochs: 150, optimizer: 'adam', learningRate: 0.005 };
  const batchSize = clamp(2 ** Math.floor(Math.log2(train.count / 16)), 4, 64);
  const epochs = clamp(Math.round(targetSteps / Math.ceil(train.count / batchSize)), 3, 60);
  return { batchSize, epochs };
}

/** The loss to begin with. */
export const firstLoss = ({ classes }: DataSet) =>
  classes === undefined ? 'meanSquaredError' : 'softmaxCrossEntropy';
