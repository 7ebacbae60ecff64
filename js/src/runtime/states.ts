/** The states of a compiled program between its runs: weights, optimizer states. Knows no device. */
import { elementCount } from '../base/shape.js';
import { type BufferInfo, byteLength, type ModuleMetadata } from '../core/abi.js';
import { arrayOn, type DataArray, type NumberArray } from '../tensor/convert.js';
import { hostDTypes } from '../tensor/dtypes.js';
import { Tensor } from '../tensor/tensor.js';
import type { DeviceValue } from './device_value.js';

/** What is known of states and of the outputs of a model. */
export type StateMetadata = Pick<ModuleMetadata, 'states' | 'metrics' | 'watched'>;

/** The content of a state: bytes on the host, a view or a copy; or a value of a device, a copy. */
export type StateData = Uint8Array | DeviceValue;

/** Call it once the contents of states are not used any more. */
export function freeData(all: Iterable<StateData>): void {
  for (const each of all) if (!(each instanceof Uint8Array)) each.free();
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

export abstract class States {
  abstract readonly metadata: StateMetadata;

  /** The bytes of a state, to read them: a view, or a copy. Error: they are on a device that must be awaited: `synced`. */
  abstract state(info: BufferInfo): Uint8Array;

  /** Replaces the bytes of a state. */
  abstract setState(info: BufferInfo, bytes: Uint8Array): void;

  /** The content of a state, which the caller frees. */
  data(info: BufferInfo): StateData {
    return this.state(info);
  }

  /** Replaces the content of a state. Error: it is on another device that must be awaited. */
  setData(info: BufferInfo, data: StateData): void {
    this.setState(info, data instanceof Uint8Array ? data : bytesOf(data.readSync()));
  }

  /** What to await until `state` has all bytes; undefined: nothing. */
  abstract synced(): Promise<void> | undefined;

  /** Writes the states again that `synced` copied last, on devices that can be lost. */
  restore(): void {}

  /** The elements of a state, to read them. The states of models have numeric types. Error: as `state`. */
  elements<Elements extends DataArray = NumberArray>(info: BufferInfo): Elements {
    const { buffer, byteOffset } = this.state(info);
    return arrayOn(
      hostDTypes[info.dtype],
      buffer,
      byteOffset,
      elementCount(info.shape),
    ) as Elements;
  }

  /** A copy of a state, which may be on a device. */
  copyOf(info: BufferInfo): Tensor {
    const { buffer } = this.state(info).slice();
    const dtype = hostDTypes[info.dtype];
    return new Tensor(arrayOn(dtype, buffer, 0, elementCount(info.shape)), info.shape, dtype);
  }

  /** The bytes of all states, concatenated in the order of the metadata. Error: as `state`. */
  states(): Uint8Array<ArrayBuffer> {
    const result = new Uint8Array(this.statesLength);
    let at = 0;
    for (const info of this.metadata.states) {
      result.set(this.state(info), at);
      at += byteLength(info);
    }
    return result;
  }

  /** The reverse of `states`. */
  setStates(content: Uint8Array): void {
    let at = 0;
    for (const info of this.metadata.states) {
      this.setState(info, content.subarray(at, at + byteLength(info)));
      at += byteLength(info);
    }
  }

  /** Bytes of all states together. */
  get statesLength(): number {
    return this.metadata.states.reduce((total, info) => total + byteLength(info), 0);
  }

  /**
   * Copies the states of equal name and shape from another program, those that `shouldCopy` accepts. Returns the
   * states that were not copied. Error: as `state`.
   */
  copyStatesFrom(
    other: States,
    shouldCopy: (info: BufferInfo) => boolean = () => true,
  ): BufferInfo[] {
    return this.metadata.states.filter((info) => {
      const source = other.metadata.states.find(({ name }) => name === info.name);
      const isSame = source !== undefined && source.shape.join() === info.shape.join();
      if (!isSame || !shouldCopy(info)) return true;
      this.copyState(info, other, source);
      return false;
    });
  }

  /** Copies one state of another program. */
  protected copyState(info: BufferInfo, other: States, source: BufferInfo): void {
    this.setState(info, other.state(source));
  }
}
