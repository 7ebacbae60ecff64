// The core's tables of layers, losses and optimizers, with display texts.
import { tables as known } from 'tensorlathe/tables';

export interface LayerOption {
  name: string;
  type: 'integer' | 'number' | 'flag' | 'choice' | 'text' | 'shape' | 'sizes' | 'layer' | 'layers';
  default: unknown;
}

export interface LayerRow {
  class: string;
  /** Name of its factory in `tl.layers`. */
  name: string;
  doc: string;
  options: LayerOption[];
}

/** A row of another table. */
export interface NamedRow {
  name: string;
  parameters: { name: string; default: unknown; words?: string[] }[];
}

type RowTable =
  'activations' | 'losses' | 'optimizers' | 'initializers' | 'regularizers' | 'constraints';

type Tables = Record<RowTable, NamedRow[]> & { layers: LayerRow[] };

export const tables = (): Tables => known as Tables;

export const layerRow = (className: string): LayerRow | undefined =>
  tables().layers.find((row) => row.class === className);

/** The table that the value of a `choice` is from, by the end of the option's name. */
export function choiceTable(option: string): NamedRow[] {
  const kind = /(activation|initializer|regularizer|constraint)$/i.exec(option)![1]!;
  return tables()[`${kind.toLowerCase()}s` as RowTable];
}

/** String options and their permitted values. */
export const words: Record<string, string[]> = {
  padding: ['valid', 'same'],
  dataFormat: ['channelsLast', 'channelsFirst'],
  mergeMode: ['concat', 'sum', 'mul', 'ave'],
  interpolation: ['nearest', 'bilinear'],
  outputMode: ['oneHot', 'multiHot', 'count'],
};

/** Layers with several inputs, or only for use inside other layers: not offered in the list. */
const isForRows = ({ class: name }: LayerRow) =>
  !/Cells?$|^(Add|Subtract|Multiply|Average|Maximum|Minimum|Concatenate|Dot|MultiHeadAttention)$/.test(
    name,
  );

const groups: [string, RegExp][] = [
  ['Convolution', /Conv(?!LSTM)|Padding|Cropping|UpSampling/],
  ['Pooling', /Pooling/],
  ['Recurrent', /RNN|LSTM|GRU|Bidirectional|TimeDistributed/],
  ['Normalization', /Normalization/],
  ['Noise', /Dropout|Noise/],
  ['Activation', /ReLU|ELU|Softmax|^Activation/],
  ['Preprocessing', /Rescaling|Resizing|CenterCrop|CategoryEncoding/],
  ['Core', /./],
];

/** The layers of sequential networks, by group, the most common group first. */
export function layerGroups(): [group: string, rows: LayerRow[]][] {
  const groupOf = (row: LayerRow) => groups.find(([, pattern]) => pattern.test(row.class))![0];
  const rows = tables().layers.filter(isForRows);
  const found = groups.map(([group]): [string, LayerRow[]] => [
    group,
    rows.filter((row) => groupOf(row) === group),
  ]);
  return [found.at(-1)!, ...found.slice(0, -1)];
}

/** Initial values of required options. */
const firstValues: Record<string, unknown> = {
  units: 32,
  filters: 16,
  kernelSize: 3,
  activation: 'relu',
  targetShape: [-1],
  dims: [2, 1],
  n: 4,
  inputDim: 1000,
  outputDim: 16,
  height: 14,
  width: 14,
  numTokens: 10,
  layer: { class: 'Dense', config: { units: 16 } },
  cell: { class: 'LSTMCell', config: { units: 16 } },
  cells: [{ class: 'LSTMCell', config: { units: 16 } }],
};

const mayBeAbsent =
  /^(strides|noiseShape|seed|inputShape|name|sharedAxes|inputLength|.*(Regularizer|Constraint))$/;

/** Whether the option is required. */
export const isRequired = (option: LayerOption) =>
  option.default === null && !mayBeAbsent.test(option.name);

/** The options of a new layer of the class. */
export function firstConfig(className: string): Record<string, unknown> {
  const required = (layerRow(className)?.options ?? []).filter(isRequired);
  const config = Object.fromEntries(required.map(({ name }) => [name, firstValues[name]]));
  if (/Dropout$/.test(className)) config.rate = 0.25;
  if (className === 'GaussianNoise') config.stddev = 0.1;
  if (className === 'Bidirectional') config.layer = { class: 'LSTM', config: { units: 16 } };
  return config;
}
