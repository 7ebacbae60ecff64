/** Reads and checks what a stand-alone module says of itself: nobody else has looked at a file of strangers. */
import { LatheError, reasonOf } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { TextDecoder } from '../base/text.js';
import type { BufferPlace, EntryPlace, ModuleMetadata } from '../core/abi.js';

const fail = (what: string): never => {
  throw new LatheError(`loadTrainingModule: ${what}`);
};

/** An unsigned LEB128 number and where it ends. */
function numberAt(bytes: Uint8Array, at: number): [value: number, end: number] {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = bytes[at++] ?? 0;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) break;
  }
  return [value, at];
}

/** Whether the bytes of a module have a section of this kind. */
function hasSection(bytes: Uint8Array, kind: number): boolean {
  for (let at = 8; at < bytes.length;) {
    const [size, from] = numberAt(bytes, at + 1);
    if (bytes[at] === kind) return true;
    at = from + size;
  }
  return false;
}

const startSection = 8;

/** Error: code of the module would run as soon as it is loaded. */
export function checkStart(bytes: Uint8Array): void {
  if (hasSection(bytes, startSection))
    fail('the module has a start function; Tensorlathe makes none');
}

/** The custom section. Errors: there is none; it is no description of a stand-alone module; other imports than a clock. */
export function readSection(module: WebAssembly.Module): ModuleMetadata {
  const [section] = WebAssembly.Module.customSections(module, 'tensorlathe');
  if (section === undefined) return fail('this module is not of Tensorlathe');
  const isClock = ({ module: from, name, kind }: WebAssembly.ModuleImportDescriptor) =>
    from === 'env' && name === 'now' && kind === 'function';
  const foreign = WebAssembly.Module.imports(module).find((each) => !isClock(each));
  if (foreign !== undefined) {
    fail(`the module is not stand-alone: it imports ${foreign.module}.${foreign.name}`);
  }
  try {
    return JSON.parse(new TextDecoder().decode(section)) as ModuleMetadata;
  } catch (error) {
    return fail(`its section "tensorlathe": ${reasonOf(error)}`);
  }
}

/** Error: the section and the module do not fit: sizes, buffers outside of the memory, entries that are no functions. */
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
  const isWhole = (each: unknown) => Number.isInteger(each) && (each as number) >= 0;
  const checkRange = (what: string, offset: number, count: number, width: number) => {
    const fits = isWhole(offset) && offset % width === 0 && offset + count * width <= bytes;
    if (!fits)
      wrong(`${what}: ${count} numbers at ${offset} do not lie in the memory of ${bytes} bytes`);
  };
  const checkPlace = (what: string, { name, dtype, shape, offset }: BufferPlace) => {
    if (typeof name !== 'string') wrong(`${what} has a buffer without a name`);
    if (dtype !== 'f32' && dtype !== 'i32') wrong(`${what} ${name}: dtype ${String(dtype)}`);
    if (!Array.isArray(shape) || !shape.every(isWhole)) wrong(`${what} ${name}: no shape`);
    checkRange(`${what} ${name}`, offset, elementCount(shape), 4);
  };
  const checkEntry = ({ name, inputs, outputs, times }: EntryPlace) => {
    const what = `entry ${String(name)}`;
    if (typeof exports[name] !== 'function') wrong(`${what} is no function of the module`);
    for (const each of listOf(inputs, `${what}: inputs`)) checkPlace(what, each);
    for (const each of listOf(outputs, `${what}: outputs`)) checkPlace(what, each);
    const batch = inputs[0]?.shape[0] ?? 0;
    if (inputs.length === 0 && name.startsWith('reset_')) return;
    if (batch < 1) wrong(`${what} takes batches of ${batch} rows`);
    const isApart = inputs.some((each) => each.name === 'order');
    for (const { name: input, shape } of inputs) {
      if (!/^([xy](\/|$)|weights)/.test(input)) continue;
      const rows = shape[0] ?? 0;
      if (rows < 1 || (!isApart && rows !== batch)) {
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
  for (const each of listOf(metadata.states, 'states')) checkPlace('state', each);
  for (const { output, name } of listOf(metadata.metrics ?? [], 'metrics')) {
    if (typeof output !== 'string' || typeof name !== 'string') wrong('a metric has no name');
  }
}
