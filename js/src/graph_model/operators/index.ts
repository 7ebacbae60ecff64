/** Every operator by its TensorFlow name, except those that run functions (execute.ts). */
import { isEngineError } from '../../base/errors.js';
import type { Operator } from '../call.js';
import { arithmetic } from './arithmetic.js';
import { creation } from './creation.js';
import { filters } from './filters.js';
import { lists } from './lists.js';
import { shapes } from './shapes.js';
import { shared } from './shared.js';
import { texts } from './strings_and_sparse.js';

/** Operators added by `registerOp`. */
export const custom = new Map<string, Operator>();

const tables = [shared, arithmetic, creation, filters, lists, shapes, texts];
/** Created for the first model, so that programs without one can drop them. */
let rows: ReadonlyMap<string, Operator> | undefined;

/** Operators do not check all operands and attributes: an error of the engine is replaced by one that names the node. */
const checked =
  (operator: Operator): Operator =>
  (call) => {
    try {
      return operator(call);
    } catch (error) {
      if (!isEngineError(error)) throw error;
      const attributes = Object.keys(call.node.attributes).join(', ') || 'none';
      const what = `cannot be computed with ${call.count} operands and attributes ${attributes}`;
      throw call.wrong(what, { cause: error });
    }
  };

export function operatorOf(op: string): Operator | undefined {
  rows ??= new Map(
    tables.flatMap((each) =>
      Object.entries(each()).map(([name, operator]) => [name, checked(operator)]),
    ),
  );
  return custom.get(op) ?? rows.get(op);
}

/** Output names of operators with several outputs, for references in functions. */
export const ports: Readonly<Record<string, readonly string[]>> = {
  MaxPoolWithArgmax: ['output', 'argmax'],
  NonMaxSuppressionV4: ['selected_indices', 'valid_outputs'],
  NonMaxSuppressionV5: ['selected_indices', 'selected_scores', 'valid_outputs'],
  SparseFillEmptyRows: [
    'output_indices',
    'output_values',
    'empty_row_indicator',
    'reverse_index_map',
  ],
  SparseReshape: ['output_indices', 'output_shape'],
  StringNGrams: ['ngrams', 'ngrams_splits'],
  StringSplit: ['indices', 'values', 'shape'],
  Switch: ['output_false', 'output_true'],
  TensorArrayV3: ['handle', 'flow'],
  TensorListPopBack: ['output_handle', 'tensor'],
  TopKV2: ['values', 'indices'],
  Unique: ['y', 'idx'],
  UniqueV2: ['y', 'idx'],
};
