/** The compact notation of operations in `names.ts`, which every page loads. */

/** An operation of the core. */
export interface OperationRow {
  code: number;
  /** The number of tensors before the other arguments. */
  tensors: number | 'many';
  /** The index of a dtype among the arguments. */
  dtypeAt?: number;
  /** The operand types of an elementwise operation: the column `signature` of scalar/ops.def. */
  operandKind?: string;
}

/**
 * Parses "NAME/TENSORS@DTYPEAT:KIND …", in the order of the codes. TENSORS is 1 by default and "*" for many; absent
 * parts are omitted.
 */
export function operationRows<Name extends string>(
  rows: string,
): Readonly<Record<Name, OperationRow>> {
  const entries = rows.split(' ').map((row, code): [string, OperationRow] => {
    const [, name, count = 1, at, operandKind] = /(\w+)(?:\/(.))?(?:@(.))?(?::(.+))?/.exec(row)!;
    const found: OperationRow = { code, tensors: count === '*' ? 'many' : Number(count) };
    if (at !== undefined) found.dtypeAt = Number(at);
    if (operandKind !== undefined) found.operandKind = operandKind;
    return [name!, found];
  });
  return Object.fromEntries(entries) as Record<Name, OperationRow>;
}
