/** Lists, arrays and tables of tensors. */
import * as tf from '../../ops/index.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { Call, Operator } from '../call.js';
import { checkLength, HashTable, TensorArray, TensorList } from '../resources.js';

/** The content of a shape operand; a negative scalar means an unknown rank. */
function shapeAt(call: Call, at: number): number[] | undefined {
  if (at >= call.count) return undefined;
  const found = call.numbers(at)!;
  return call.tensor(at).rank === 0 ? undefined : found;
}

const dtypeOf = (call: Call) => call.attribute<Tensor['dtype']>('element_dtype', 'float32');
const list = (call: Call, at = 0) => call.handle(at, TensorList);
const array = (call: Call) => call.handle(0, TensorArray);
const table = (call: Call) => call.handle(0, HashTable);
/** The flow value, which orders the nodes that write to a TensorArray. */
const flow = (): Tensor => tf.scalar(1);

const reserved: Operator = (call) =>
  TensorList.sized('TensorListReserve', call.number(1), shapeAt(call, 0), dtypeOf(call));
const empty: Operator = (call) => new TensorList([], shapeAt(call, 0), dtypeOf(call));
const scattered: Operator = (call) => {
  const indices = call.numbers(1)!;
  const length = indices.reduce(
    (longest, at) => Math.max(longest, at + 1),
    Math.max(0, call.number(3, 0)),
  );
  checkLength(call.node.op, length);
  const tensors = new Array<Tensor | undefined>(length).fill(undefined);
  const rows = tf.unstack(call.tensor(0));
  if (rows.length !== indices.length || indices.some((at) => at < 0)) {
    throw call.wrong(`${rows.length} tensors do not fit indices [${indices.slice(0, 8).join()}]`);
  }
  rows.forEach((each, at) => (tensors[indices[at]!] = each));
  return new TensorList(tensors, shapeAt(call, 2), call.tensor(0).dtype);
};
const concatenatedList: Operator = (call) => tf.concat(list(call).all());
const made: Operator = (call) =>
  new HashTable(call.attribute<Tensor['dtype']>('value_dtype', 'float32'));
const filled: Operator = (call) => {
  table(call).fill(call.tensor(1).dataSync(), call.tensor(2).dataSync());
  return [];
};
const found: Operator = (call) => {
  const keys = call.tensor(1);
  const rows = table(call);
  const values = rows.find(keys.dataSync(), call.tensor(2).dataSync()[0]);
  return tf.tensor(values as number[], keys.shape, rows.valueDType);
};
const tableSize: Operator = (call) => tf.scalar(table(call).size, 'int32');

export const lists = (): Record<string, Operator> => ({
  EmptyTensorList: empty,
  HashTable: made,
  HashTableV2: made,
  InitializeTable: filled,
  InitializeTableV2: filled,
  LookupTableFind: found,
  LookupTableFindV2: found,
  LookupTableImport: filled,
  LookupTableImportV2: filled,
  LookupTableSize: tableSize,
  LookupTableSizeV2: tableSize,
  TensorArrayCloseV3: () => [],
  TensorArrayConcatV3: (call) => array(call).concatenated(),
  TensorArrayGatherV3: (call) => array(call).gather(call.numbers(1)!),
  TensorArrayReadV3: (call) => tf.clone(array(call).read(call.number(1))),
  TensorArrayScatterV3: (call) => {
    array(call).scatter(call.numbers(1)!, call.tensor(2));
    return flow();
  },
  TensorArraySizeV3: (call) => tf.scalar(array(call).size, 'int32'),
  TensorArraySplitV3: (call) => {
    array(call).split(call.tensor(1), call.numbers(2)!);
    return flow();
  },
  TensorArrayV3: (call) => [
    new TensorArray(
      call.number(0),
      call.attribute('dynamic_size', false),
      call.attribute<Tensor['dtype']>('dtype', 'float32'),
    ),
    flow(),
  ],
  TensorArrayWriteV3: (call) => {
    array(call).write(call.number(1), call.tensor(2));
    return flow();
  },
  TensorListConcat: concatenatedList,
  TensorListConcatV2: concatenatedList,
  TensorListFromTensor: (call) => TensorList.of(call.tensor(0), shapeAt(call, 1)),
  TensorListGather: (call) =>
    tf.stack(call.numbers(1)!.map((each) => list(call).at(each, shapeAt(call, 2)))),
  TensorListGetItem: (call) => list(call).at(call.number(1), shapeAt(call, 2)),
  TensorListLength: (call) => tf.scalar(list(call).tensors.length, 'int32'),
  TensorListPopBack: (call) => {
    const all = list(call);
    const last = all.at(all.tensors.length - 1, shapeAt(call, 1));
    return [all.with(all.tensors.slice(0, -1)), last];
  },
  TensorListPushBack: (call) => list(call).put(list(call).tensors.length, call.tensor(1)),
  TensorListReserve: reserved,
  TensorListResize: (call) => {
    const [all, size] = [list(call), checkLength('TensorListResize', call.number(1))];
    return all.with(Array.from({ length: size }, (_, at) => all.tensors[at]));
  },
  TensorListScatter: scattered,
  TensorListScatterV2: scattered,
  TensorListSetItem: (call) => list(call).put(call.number(1), call.tensor(2)),
  TensorListSplit: (call) =>
    new TensorList(
      tf.split(call.tensor(0), call.numbers(2)!),
      shapeAt(call, 1),
      call.tensor(0).dtype,
    ),
  TensorListStack: (call) => list(call).stacked(shapeAt(call, 1)),
});
