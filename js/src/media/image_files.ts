/** Decodes image files in Node, with the npm packages jpeg-js and pngjs. */
import { LatheError, reasonOf } from '../base/errors.js';
import { nodeModule } from '../base/node.js';
import type { RgbaImage } from './image_options.js';

type Decode = (bytes: Uint8Array) => RgbaImage;

/** Imports a package resolved from this one, as the working directory is not trusted. Error: it is not installed. */
function load(name: string, where: string): any {
  try {
    return nodeModule('module').createRequire(import.meta.url)(name);
  } catch (cause) {
    throw new LatheError(
      `image.toTensor: ${where} needs the npm package ${name}, which is not installed: npm install ${name}`,
      { cause },
    );
  }
}

/** The RGBA bytes of a JPEG or PNG file. Errors: another kind of file; damaged; the package is not installed. */
export function decodeFile(bytes: Uint8Array, where: string): RgbaImage {
  const begins = (...first: number[]) => first.every((each, at) => bytes[at] === each);
  let decode: Decode;
  if (begins(0xff, 0xd8, 0xff)) {
    const jpeg = load('jpeg-js', where);
    decode = (file) => jpeg.decode(file, { useTArray: true, maxMemoryUsageInMB: 4096 });
  } else if (begins(0x89, 0x50, 0x4e, 0x47)) {
    const { PNG } = load('pngjs', where);
    const { Buffer } = nodeModule('buffer');
    decode = (file) => PNG.sync.read(Buffer.from(file.buffer, file.byteOffset, file.length));
  } else {
    throw new LatheError(
      `image.toTensor: ${where} is neither JPEG nor PNG, which are read in Node`,
    );
  }
  try {
    return decode(bytes);
  } catch (cause) {
    throw new LatheError(`image.toTensor: ${where} is damaged: ${reasonOf(cause)}`, { cause });
  }
}
