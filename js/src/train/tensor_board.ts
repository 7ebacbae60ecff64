/**
 * `callbacks.tensorBoard`: event files that TensorBoard reads. A file is a sequence of TFRecords, each a message Event of
 * tensorflow/core/util/event.proto.
 */
import { LatheError } from '../base/errors.js';
import { nodeModule, nodeProcess } from '../base/node.js';
import { TextEncoder } from '../base/text.js';
import type { Logs, TrainingCallbacks } from './history.js';

/** Options of `callbacks.tensorBoard`. */
export interface TensorBoardArgs {
  /** Whether also every batch is recorded. Default: 'epoch'. */
  updateFreq?: 'epoch' | 'batch';
}

/** CRC-32C (Castagnoli, RFC 3720 B.4), bits reversed. */
const table = /* @__PURE__ */ Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

/** The checksum as TFRecord stores it: rotated by 15 bits, plus a constant. */
export function maskedCrc(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = table[(crc ^ byte) & 255]! ^ (crc >>> 8);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** A record: length, checksum of the length, data, checksum of the data. */
export function tfRecord(data: Uint8Array): Uint8Array {
  const record = new Uint8Array(data.length + 16);
  const view = new DataView(record.buffer);
  view.setUint32(0, data.length, true);
  view.setUint32(8, maskedCrc(record.subarray(0, 8)), true);
  record.set(data, 12);
  view.setUint32(12 + data.length, maskedCrc(data), true);
  return record;
}

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const lengthDelimited = (field: number, bytes: ArrayLike<number>): number[] => [
  field * 8 + 2,
  ...varint(bytes.length),
  ...Array.from(bytes),
];
const encoder = /* @__PURE__ */ new TextEncoder();
const text = (field: number, value: string) => lengthDelimited(field, encoder.encode(value));
/** A float64 (wire type 1) or a float32 (wire type 5). */
function float(field: number, type: 1 | 5, value: number): number[] {
  const bytes = new Uint8Array(
    (type === 1 ? new Float64Array([value]) : new Float32Array([value])).buffer,
  );
  return [field * 8 + type, ...bytes];
}

/** An Event: wall_time 1, step 2, and file_version 3 or a summary 5 of values 1 with tag 1 and simple_value 2. */
export function event(step: number, scalars: Record<string, number>): Uint8Array {
  const values = Object.entries(scalars).flatMap(([tag, value]) =>
    lengthDelimited(1, [...text(1, tag), ...float(2, 5, value)]),
  );
  return Uint8Array.from([
    ...float(1, 1, Date.now() / 1000),
    ...[2 * 8, ...varint(step)],
    ...lengthDelimited(5, values),
  ]);
}
const fileVersion = () =>
  Uint8Array.from([...float(1, 1, Date.now() / 1000), ...text(3, 'brain.Event:2')]);

/** An event file, created with its first event. */
class EventFile {
  #path: string | undefined;

  constructor(private readonly folder: string) {}

  add(step: number, scalars: Record<string, number>): void {
    if (Object.keys(scalars).length === 0) return;
    const [fs, { join }, { hostname }] = ['node:fs', 'node:path', 'node:os'].map(nodeModule);
    if (this.#path === undefined) {
      fs.mkdirSync(this.folder, { recursive: true });
      const seconds = (Date.now() / 1000).toFixed(6);
      const name = `events.out.tfevents.${seconds}.${hostname()}.${nodeProcess!.pid}.v2`;
      this.#path = join(this.folder, name);
      fs.appendFileSync(this.#path, tfRecord(fileVersion()));
    }
    fs.appendFileSync(this.#path, tfRecord(event(step, scalars)));
  }
}

/**
 * The scores of epochs as `epoch_loss`, … in the folders train and validation of `folder`, as Keras writes them. Error: not in Node.
 */
export function tensorBoard(
  folder: string,
  { updateFreq = 'epoch' }: TensorBoardArgs = {},
): TrainingCallbacks<unknown> {
  if (nodeProcess === undefined)
    throw new LatheError('tensorBoard: only in Node, which writes files');
  const { join } = nodeModule('node:path');
  const train = new EventFile(join(folder, 'train'));
  const validation = new EventFile(join(folder, 'validation'));
  const scalars = (logs: Logs, prefix: string, isChosen: (name: string) => boolean) =>
    Object.fromEntries(
      Object.entries(logs)
        .filter(([name, value]) => typeof value === 'number' && isChosen(name))
        .map(([name, value]) => [`${prefix}${name.replace(/^val_/, '')}`, value as number]),
    );
  const isTrain = (name: string) => !/^(val_.*|batch|size|imagesPerSecond)$/.test(name);
  let step = 0;
  return {
    onEpochEnd(epoch, logs) {
      train.add(epoch, scalars(logs, 'epoch_', isTrain));
      validation.add(
        epoch,
        scalars(logs, 'epoch_', (name) => name.startsWith('val_')),
      );
    },
    ...(updateFreq === 'batch' && {
      onBatchEnd(_: number, logs: Logs) {
        train.add(step++, scalars(logs, 'batch_', isTrain));
      },
    }),
  };
}
