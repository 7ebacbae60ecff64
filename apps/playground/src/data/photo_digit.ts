// A photo of a written digit as MNIST has it: ink on an empty ground, 20 pixels large, its center in the middle.
import { cropTo, grayOf } from '../inspect/image_input';

const side = 112;
const [digit, image] = [20, 28];
/** Ink is darker than the ground by this share of the largest difference. */
const inkShare = 0.45;

/** Error: the photo has nothing that stands out. */
export async function digitFrom(file: Blob): Promise<Float32Array> {
  const photo = await cropTo(file, side, side);
  const { data } = photo.getContext('2d')!.getImageData(0, 0, side, side);
  const gray = Float32Array.from({ length: side * side }, (_, at) => grayOf(data, at));
  const sorted = [...gray].sort((a, b) => a - b);
  const ground = sorted[sorted.length >> 1]!;
  const largest = Math.max(ground - sorted[0]!, sorted.at(-1)! - ground);
  if (largest < 20) throw new Error('the photo has no digit that stands out from its ground');
  const isDark = ground - sorted[0]! >= sorted.at(-1)! - ground;
  const ink = gray.map((value) => {
    const share = (isDark ? ground - value : value - ground) / largest;
    return share > inkShare ? Math.min(1, share * 1.2) : 0;
  });
  const at = [...ink.keys()].filter((each) => ink[each]! > 0);
  const [xs, ys] = [at.map((each) => each % side), at.map((each) => Math.floor(each / side))];
  const bounds = (values: number[]) => [Math.min(...values), Math.max(...values) + 1] as const;
  const [[left, right], [top, bottom]] = [bounds(xs), bounds(ys)];
  const scale = digit / Math.max(right - left, bottom - top);
  const weight = at.reduce((sum, each) => sum + ink[each]!, 0);
  const center = (all: number[]) =>
    at.reduce((sum, each, index) => sum + ink[each]! * all[index]!, 0) / weight;
  const [cx, cy] = [center(xs), center(ys)];
  const pixels = new Float32Array(image * image);
  const covered = 1 / scale;
  for (let y = 0; y < image; ++y) {
    for (let x = 0; x < image; ++x) {
      // The mean of the part of the photo that the pixel covers.
      const [x0, y0] = [(x - 13.5) * covered + cx, (y - 13.5) * covered + cy];
      let [sum, count] = [0, 0];
      for (let dy = -covered / 2; dy < covered / 2; ++dy) {
        for (let dx = -covered / 2; dx < covered / 2; ++dx) {
          const [px, py] = [Math.round(x0 + dx), Math.round(y0 + dy)];
          if (px >= 0 && px < side && py >= 0 && py < side) sum += ink[py * side + px]!;
          count += 1;
        }
      }
      pixels[y * image + x] = sum / Math.max(count, 1);
    }
  }
  return pixels;
}
