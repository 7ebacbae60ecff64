/** States of a program on a device, with copies on the host. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import type { BufferInfo } from '../core/abi.js';
import type { Device, Program } from '../runtime/device.js';
import { DeviceValue } from '../runtime/device_value.js';
import { bytesOf, type StateData, type StateMetadata, States } from '../runtime/states.js';
import { arrayOn, type DataArray } from '../tensor/convert.js';
import { hostDTypes } from '../tensor/dtypes.js';
import { Tensor } from '../tensor/tensor.js';

export class DeviceStates extends States {
  /** The elements of each state, unless the device has changed them since. */
  readonly #copies: (DataArray | undefined)[] = [];
  /** What `synced` copied last, or what was written. */
  readonly #backups: DataArray[] = [];
  /** Runs that changed states. */
  #changes = 0;

  /** States are uninitialized. */
  constructor(
    readonly device: Device,
    readonly metadata: StateMetadata,
    private readonly program: Program,
  ) {
    super();
  }

  state(info: BufferInfo): Uint8Array {
    const { at, dtype, size } = this.#find(info);
    const { device } = this;
    this.#copies[at] ??= device.readSync(this.program.state(at), dtype, size);
    return bytesOf(this.#copies[at]);
  }

  setState(info: BufferInfo, bytes: Uint8Array): void {
    const { at, dtype, size } = this.#find(info);
    const copy = arrayOn(dtype, bytes.slice().buffer, 0, size);
    this.device.write(this.program.state(at), dtype, copy);
    this.#keep(at, copy);
  }

  override data(info: BufferInfo): StateData {
    const { at, dtype, size } = this.#find(info);
    if (this.#copies[at] !== undefined) return super.data(info);
    const value = new DeviceValue(dtype, info.shape, this.device).allocate();
    this.device.copy(dtype, this.program.state(at), 0, value.materialize(), 0, size);
    return value;
  }

  override setData(info: BufferInfo, data: StateData): void {
    if (data instanceof Uint8Array || data.device !== this.device) return super.setData(info, data);
    const { at, dtype, size } = this.#find(info);
    this.device.copy(dtype, data.materialize(), 0, this.program.state(at), 0, size);
    this.#copies[at] = undefined;
    this.#changes += 1;
  }

  override copyOf(info: BufferInfo): Tensor {
    const data = this.data(info);
    if (data instanceof Uint8Array) return super.copyOf(info);
    return new Tensor(data, info.shape, data.dtype);
  }

  protected override copyState(info: BufferInfo, other: States, source: BufferInfo): void {
    if (!(other instanceof DeviceStates) || other.device !== this.device) {
      return super.copyState(info, other, source);
    }
    const [to, from] = [this.#find(info), other.#find(source)];
    const copy = other.#copies[from.at];
    if (copy !== undefined) return this.setState(info, bytesOf(copy));
    const stored = other.program.state(from.at);
    this.device.copy(to.dtype, stored, 0, this.program.state(to.at), 0, to.size);
    this.#copies[to.at] = undefined;
    this.#changes += 1;
  }

  /** A run has been started that may have changed the states that `isChanged` accepts. */
  changed(isChanged: (name: string) => boolean): void {
    this.#changes += 1;
    this.metadata.states.forEach(({ name }, at) => {
      if (isChanged(name)) this.#copies[at] = undefined;
    });
  }

  /**
   * Copies all states to the host, where they survive a loss of the device. Rejects with the error of the run that should have written
   * them.
   */
  synced(): Promise<void> | undefined {
    return this.areCopied ? undefined : this.#sync();
  }

  async #sync(): Promise<void> {
    const changes = this.#changes;
    const found = await Promise.all(
      this.metadata.states.map((info) => {
        const { at, dtype, size } = this.#find(info);
        return this.#copies[at] ?? this.device.read(this.program.state(at), dtype, size);
      }),
    );
    // States of different steps do not belong together.
    if (this.#changes === changes) found.forEach((copy, at) => this.#keep(at, copy));
  }

  /** Whether the host has all states as they are. */
  get areCopied(): boolean {
    return this.metadata.states.every((_, at) => this.#copies[at] !== undefined);
  }

  override restore(): void {
    this.metadata.states.forEach((info, at) => {
      const backup = this.#backups[at];
      if (backup !== undefined) this.setState(info, bytesOf(backup));
    });
  }

  #keep(at: number, copy: DataArray): void {
    this.#copies[at] = this.#backups[at] = copy;
    this.program.setBackup?.(at, copy);
  }

  #find(info: BufferInfo) {
    const at = this.metadata.states.findIndex(({ name }) => name === info.name);
    if (at < 0) throw new LatheError(`the model has no state ${info.name}`);
    return { at, dtype: hostDTypes[info.dtype], size: elementCount(info.shape) };
  }
}
