// WAV files: read as sound of one channel, written with 16 bits.

/** The rate and the mean of the channels, -1 … 1. Errors: not a WAV file, or compressed. */
export function readWav(bytes, name) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = (at) => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.length < 12 || tag(0) !== 'RIFF' || tag(8) !== 'WAVE') {
    throw new Error(`${name} is no WAV file`);
  }
  let format;
  for (let at = 12; at + 8 <= bytes.length;) {
    const size = view.getUint32(at + 4, true);
    const begin = at + 8;
    if (tag(at) === 'fmt ') {
      const kind = view.getUint16(begin, true);
      format = {
        // The extensible kind has the real one in its identifier.
        kind: kind === 0xfffe ? view.getUint16(begin + 24, true) : kind,
        channels: view.getUint16(begin + 2, true),
        rate: view.getUint32(begin + 4, true),
        bits: view.getUint16(begin + 14, true),
      };
    }
    if (tag(at) === 'data' && format !== undefined) {
      const end = Math.min(begin + size, bytes.length);
      return { rate: format.rate, sound: mixed(view, begin, end, format, name) };
    }
    at = begin + size + (size % 2);
  }
  throw new Error(`${name} has no sound`);
}

function mixed(view, begin, end, { kind, channels, bits }, name) {
  const reader = {
    '1 8': (at) => view.getUint8(at) / 128 - 1,
    '1 16': (at) => view.getInt16(at, true) / 2 ** 15,
    '1 24': (at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 2 ** 16) / 2 ** 23,
    '1 32': (at) => view.getInt32(at, true) / 2 ** 31,
    '3 32': (at) => view.getFloat32(at, true),
  }[`${kind} ${bits}`];
  if (reader === undefined) throw new Error(`${name}: WAV of format ${kind} with ${bits} bits`);
  const bytes = bits / 8;
  const count = Math.floor((end - begin) / (bytes * channels));
  return Float32Array.from({ length: count }, (_, at) => {
    let sum = 0;
    for (let channel = 0; channel < channels; ++channel)
      sum += reader(begin + (at * channels + channel) * bytes);
    return sum / channels;
  });
}

/** The bytes of a file with one channel. */
export function writeWav(sound, rate) {
  const bytes = new Uint8Array(44 + 2 * sound.length);
  const view = new DataView(bytes.buffer);
  const text = (at, letters) => bytes.set(new TextEncoder().encode(letters), at);
  text(0, 'RIFF');
  view.setUint32(4, bytes.length - 8, true);
  text(8, 'WAVEfmt ');
  [16, 0x10001, rate, 2 * rate, 0x100002].forEach((each, at) => view.setUint32(16 + 4 * at, each, true)); // prettier-ignore
  text(36, 'data');
  view.setUint32(40, 2 * sound.length, true);
  sound.forEach((value, at) =>
    view.setInt16(44 + 2 * at, Math.round(32767 * Math.max(-1, Math.min(1, value))), true),
  );
  return bytes;
}
