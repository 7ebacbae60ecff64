// Lines of text that ocr-node finds in images and reads: a net finds boxes, another one of any width reads them.
import Ocr from '@gutenye/ocr-node';
import sharp from 'sharp';

/** Letters of 5 × 7 points, a row after the other. */
const letters = {
  H: '10001 10001 10001 11111 10001 10001 10001',
  E: '11111 10000 10000 11110 10000 10000 11111',
  L: '10000 10000 10000 10000 10000 10000 11111',
  O: '01110 10001 10001 10001 10001 10001 01110',
  T: '11111 00100 00100 00100 00100 00100 00100',
  A: '01110 10001 10001 11111 10001 10001 10001',
  1: '00100 01100 00100 00100 00100 00100 01110',
  7: '11111 00001 00010 00100 00100 00100 00100',
  ' ': '00000 00000 00000 00000 00000 00000 00000',
};

/** A PNG of black lines on white. */
function drawn(lines, [width, height]) {
  const pixels = Buffer.alloc(width * height * 3, 255);
  const point = 6;
  const black = (left, top) => {
    for (let y = top; y < top + point; ++y)
      pixels.fill(0, 3 * (y * width + left), 3 * (y * width + left + point));
  };
  for (const [line, text] of lines.entries()) {
    for (const [at, letter] of [...text].entries()) {
      for (const [y, row] of letters[letter].split(' ').entries()) {
        for (const [x, bit] of [...row].entries())
          if (bit === '1') black(20 + point * (6 * at + x), 30 + 80 * line + point * y);
      }
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .blur(1.2)
    .png()
    .toBuffer();
}

export async function lines() {
  const ocr = await Ocr.create();
  return {
    two: await ocr.detect(await drawn(['HELLO', 'TOTAL 7'], [320, 200])),
    one: await ocr.detect(await drawn(['HOLA 17'], [352, 128])),
  };
}
