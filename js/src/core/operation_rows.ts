/** How `names.ts` writes the rows of operations, which every page loads. */

/** An operation of the core. */
export interface OperationRow {
  code: number;
  /** How many it takes in front of its arguments. */
  tensors: number | 'many';
  /** Which argument is a dtype. */
  dtypeAt?: number;
  /** Of what types an elementwise one is: the column `signature` of scalar/ops.def. */
  takes?: string;
}

/**
 * The rows of "NAME/TENSORS@DTYPEAT:TAKES …", in the order of their codes. One tensor is not written, many are "*", and what a
 * row lacks is left out.
 */
export function operationRows<Name extends string>(
  text: string,
): Readonly<Record<Name, OperationRow>> {
  const rows = text.split(' ').map((row, code): [string, OperationRow] => {
    const [, name, count = 1, at, takes] = /(\w+)(?:\/(.))?(?:@(.))?(?::(.+))?/.exec(row)!;
    const found: OperationRow = { code, tensors: count === '*' ? 'many' : Number(count) };
    if (at !== undefined) found.dtypeAt = Number(at);
    if (takes !== undefined) found.takes = takes;
    return [name!, found];
  });
  return Object.fromEntries(rows) as Record<Name, OperationRow>;
}
