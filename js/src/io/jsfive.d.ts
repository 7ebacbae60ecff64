/** The part of jsfive that is used: reading HDF5. */
declare module 'jsfive' {
  export class Group {
    readonly attrs: Record<string, unknown>;
    readonly keys: string[];
    get(path: string): Group | Dataset;
  }
  export class Dataset {
    readonly attrs: Record<string, unknown>;
    readonly shape: number[];
    readonly dtype: unknown;
    readonly value: ArrayLike<number>;
  }
  export class File extends Group {
    constructor(content: ArrayBuffer, name: string);
  }
}
