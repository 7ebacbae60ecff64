/** Reads and validates the metadata section of a standalone module, which is untrusted input. */
import { LatheError, reasonOf } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { TextDecoder } from '../base/text.js';
import type { BufferInfo, EntryInfo, ModuleMetadata } from '../core/abi.js';

const fail = (what: string): never => {
  throw new LatheError(`loadTrainingModule: ${what}`);
};

/** Decodes an unsigned LEB128 number; returns it and the offset after it. */
function numberAt(bytes: Uint8Array, at: number): [value: number, end: number] {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = bytes[at++] ?? 0;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) break;
  }
  return [value, at];
}

/** Whether a module has a section with this id. */
function hasSection(bytes: Uint8Array, kind: number): boolean {
  for (let at = 8; at < bytes.length;) {
    const [size, from] = numberAt(bytes, at + 1);
    if (bytes[at] === kind) return true;
    at = from + size;
  }
  return false;
}

const startSection = 8;

/** Error: the module has a start function, which would run at instantiation. */
export function checkStart(bytes: Uint8Array): void {
  if (hasSection(bytes, startSection))
    fail('the module has a start function; Tensorlathe makes none');
}

/** Reads the custom section. Errors: it is missing or malformed; imports other than a clock. */
export function readSection(module: WebAssembly.Module): ModuleMetadata {
  const [section] = WebAssembly.Module.customSections(module, 'tensorlathe');
  if (section === undefined) return fail('this module is not of Tensorlathe');
  const isClock = ({ module: from, name, kind }: WebAssembly.ModuleImportDescriptor) =>
    from === 'env' && name === 'now' && kind === 'function';
  const foreign = WebAssembly.Module.imports(module).find((each) => !isClock(each));
  if (foreign !== undefined) {
    fail(`the module is not standalone: it imports ${foreign.module}.${foreign.name}`);
  }
  try {
    return JSON.parse(new TextDecoder().decode(section)) as ModuleMetadata;
  } catch (error) {
    return fail(`its section "tensorlathe": ${reasonOf(error)}`);
  }
}

/** Validates the section. Errors: it does not match the module: sizes, buffers out of bounds, entries that are no functions. */
export function checkSection(metadata: ModuleMetadata, exports: WebAssembly.Exports): void {
  const wrong = (what: string) => fail(`its section "tensorlathe" is damaged: ${what}`);
  const listOf = <T>(value: readonly T[] | undefined, what: string): readonly T[] => {
    if (!Array.isArray(value)) wrong(`${what} is no list`);
    const isOne = (each: unknown) => typeof each === 'object' && each !== null;
    if (!value!.every(isOne)) wrong(`${what} has elements that are no objects`);
    return value!;
  };
  const { memory } = exports;
  if (!(memory instanceof WebAssembly.Memory))
    return fail('the module has no memory among its exports');
  const bytes = memory.buffer.byteLength;
  const isCount = (each: unknown) => Number.isInteger(each) && (each as number) >= 0;
  const checkRange = (what: string, offset: number, count: number, width: number) => {
    const fits = isCount(offset) && offset % width === 0 && offset + count * width <= bytes;
    if (!fits)
      wrong(`${what}: ${count} numbers at ${offset} are not within the memory of ${bytes} bytes`);
  };
  const checkBuffer = (what: string, { name, dtype, shape, offset }: BufferInfo) => {
    if (typeof name !== 'string') wrong(`${what} has a buffer without a name`);
    if (dtype !== 'f32' && dtype !== 'i32') wrong(`${what} ${name}: dtype ${String(dtype)}`);
    if (!Array.isArray(shape) || !shape.every(isCount)) wrong(`${what} ${name}: no shape`);
    checkRange(`${what} ${name}`, offset, elementCount(shape), 4);
  };
  const checkEntry = ({ name, inputs, outputs, times }: EntryInfo) => {
    const what = `entry ${String(name)}`;
    if (typeof exports[name] !== 'function') wrong(`${what} is no function of the module`);
    for (const each of listOf(inputs, `${what}: inputs`)) checkBuffer(what, each);
    for (const each of listOf(outputs, `${what}: outputs`)) checkBuffer(what, each);
    const batch = inputs[0]?.shape[0] ?? 0;
    if (inputs.length === 0 && name.startsWith('reset_')) return;
    if (batch < 1) wrong(`${what} has batches of ${batch} rows`);
    const hasOrder = inputs.some((each) => each.name === 'order');
    for (const { name: input, shape } of inputs) {
      if (!/^([xy](\/|$)|weights)/.test(input)) continue;
      const rows = shape[0] ?? 0;
      if (rows < 1 || (!hasOrder && rows !== batch)) {
        wrong(`${what} ${input}: ${rows} rows, in batches of ${batch}`);
      }
      if (elementCount(shape) === 0) wrong(`${what} ${input}: rows without numbers`);
    }
    const results = name === 'predict' ? outputs : [];
    for (const { name: output, shape } of results) {
      if (shape[0] !== batch) wrong(`${what} ${output}: ${shape[0]} rows, in batches of ${batch}`);
    }
    if (times === undefined) return;
    if (!Array.isArray(times?.parts) || times.parts.some((each) => typeof each !== 'string')) {
      wrong(`${what}: times without parts`);
    }
    checkRange(`${what}: times`, times.offset, 1 + times.parts.length, 8);
  };
  if (typeof metadata !== 'object' || metadata === null) wrong('it is no object');
  for (const each of listOf(metadata.entries, 'entries')) checkEntry(each);
  for (const each of listOf(metadata.states, 'states')) checkBuffer('state', each);
  for (const { output, name } of listOf(metadata.metrics ?? [], 'metrics')) {
    if (typeof output !== 'string' || typeof name !== 'string') wrong('a metric has no name');
  }
}
