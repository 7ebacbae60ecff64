// Writes what Keras 3 writes: model.weights.h5 with the variables of each object in its group, and .keras archives.
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { File, ready } from 'h5wasm/node';

let count = 0;

/** An HDF5 file of arrays by path: { 'layers/dense/vars/0': { shape, data } }, and attributes of groups. */
export async function hdf5(tensors, groups = {}) {
  await ready;
  const path = join(tmpdir(), `tensorlathe-${process.pid}-${(count += 1)}.h5`);
  const file = new File(path, 'w');
  const groupAt = (names) =>
    names.reduce(
      (group, name) => (group.keys().includes(name) ? group.get(name) : group.create_group(name)),
      file,
    );
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    const parts = name.split('/');
    groupAt(parts.slice(0, -1)).create_dataset({ name: parts.at(-1), data, shape });
  }
  for (const [name, attributes] of Object.entries(groups)) {
    const group = groupAt(name.split('/').filter(Boolean));
    for (const [key, value] of Object.entries(attributes)) group.create_attribute(key, value);
  }
  file.close();
  const bytes = readFileSync(path);
  rmSync(path);
  return Uint8Array.from(bytes);
}

const crcOf =
  crc32 ??
  ((bytes) => {
    let crc = -1;
    for (const byte of bytes) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return (crc ^ -1) >>> 0;
  });

/** A zip archive of files, stored as Python's zipfile does, or deflated. */
export function zip(files, { deflated = false } = {}) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const [name, bytes] of Object.entries(files)) {
    const content = deflated ? deflateRawSync(bytes) : bytes;
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(deflated ? 8 : 0, 4);
    fields.writeUInt32LE(crcOf(bytes), 10);
    fields.writeUInt32LE(content.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const entry = Buffer.concat([
      Buffer.from('PK\x03\x04', 'latin1'),
      fields,
      Buffer.from(name),
      content,
    ]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    directory.push(
      Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, rest, Buffer.from(name)]),
    );
    parts.push(entry);
    at += entry.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  return Uint8Array.from(Buffer.concat([...parts, listed, end]));
}

/** A .keras archive. */
export const archive = (config, weights, options) =>
  zip(
    {
      'metadata.json': Buffer.from(
        JSON.stringify({ keras_version: '3.8.0', date_saved: '2025-02-01@10:00:00' }),
      ),
      'config.json': Buffer.from(JSON.stringify(config)),
      'model.weights.h5': weights,
    },
    options,
  );
