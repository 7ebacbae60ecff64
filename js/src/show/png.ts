/** PNG without compression: in every browser, notebook and viewer. */

const table = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ table[(crc ^ byte) & 255]!;
  return ~crc >>> 0;
}

function adlerOf(bytes: Uint8Array): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
}

const big = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);

function chunk(name: string, content: ArrayLike<number>): number[] {
  const body = Uint8Array.from([...name].map((each) => each.charCodeAt(0)).concat(Array.from(content))); // prettier-ignore
  return [...big(content.length), ...body, ...big(crcOf(body))];
}

/** A file of RGBA pixels [height, width, 4], as a data URL. */
export function pngUrl(pixels: Uint8Array, width: number, height: number): string {
  const raw = new Uint8Array(height * (4 * width + 1));
  for (let y = 0; y < height; ++y) {
    raw.set(pixels.subarray(4 * y * width, 4 * (y + 1) * width), y * (4 * width + 1) + 1);
  }
  // zlib (RFC 1950) with stored blocks (RFC 1951, 3.2.4).
  const stream = [0x78, 0x01];
  for (let at = 0; at < raw.length; at += 65535) {
    const block = raw.subarray(at, at + 65535);
    const [low, high] = [block.length & 255, block.length >> 8];
    stream.push(at + 65535 < raw.length ? 0 : 1, low, high, low ^ 255, high ^ 255);
    for (const byte of block) stream.push(byte);
  }
  stream.push(...big(adlerOf(raw)));
  const file = [
    ...[137, 80, 78, 71, 13, 10, 26, 10],
    ...chunk('IHDR', [...big(width), ...big(height), 8, 6, 0, 0, 0]),
    ...chunk('IDAT', stream),
    ...chunk('IEND', []),
  ];
  let binary = '';
  for (const byte of file) binary += String.fromCharCode(byte);
  return `data:image/png;base64,${btoa(binary)}`;
}
