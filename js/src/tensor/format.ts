/** Formats tensors as TensorFlow.js prints them. */

/** Axes of more elements are abbreviated to the first and last few. */
const maxElements = 20;
const edgeElements = 3;

/** The elements of a tensor of rank ≥ 1 as lines; `elementAt` formats one. */
export function formatElements(
  shape: readonly number[],
  elementAt: (at: number) => string,
): string[] {
  const rank = shape.length;
  const columns = shape[rank - 1]!;
  const rows = shape.slice(0, -1).reduce((product, size) => product * size, 1);
  const widths = new Array<number>(rank > 1 ? columns : 0).fill(0);
  for (let at = 0; rank > 1 && at < rows * columns; ++at) {
    const column = at % columns;
    widths[column] = Math.max(widths[column]!, elementAt(at).length);
  }
  const format = (axis: number, row: number, isLast: boolean): string[] => {
    const size = shape[axis]!;
    const isLong = size > maxElements;
    const indices = Array.from({ length: isLong ? 2 * edgeElements : size }, (_, at) =>
      isLong && at >= edgeElements ? size - 2 * edgeElements + at : at,
    );
    const inner = rank - axis;
    const parts = indices.map((at) =>
      inner === 1
        ? [elementAt(row * size + at).padEnd(widths[at] ?? 0)]
        : format(axis + 1, row * size + at, at === size - 1),
    );
    if (isLong) parts.splice(edgeElements, 0, ['...']);
    if (inner === 1) return [`[${parts.join(', ')}]`];
    const lines = parts.flat();
    const comma = inner === 2 ? ',' : '';
    lines[0] = size > 0 ? `[${lines[0]}${comma}` : '[';
    for (let at = 1; at < lines.length - 1; ++at) lines[at] = ` ${lines[at]}${comma}`;
    lines.push(` ${lines.pop()}]${isLast ? '' : `,\n${'\n'.repeat(inner - 2)}`}`);
    return lines;
  };
  return format(0, 0, true);
}
