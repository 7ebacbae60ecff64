/** Types of names that must be rows of a table where a program writes them as literals. Must not know the tables. */

/** A name as the core compares it: without underscores, in lower case. */
type Plain<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? Plain<`${Head}${Tail}`>
  : Lowercase<Name>;

/** Literals among `Names` that are rows, and all rows instead of a literal that is none; `string` is any name. */
export type KnownNames<Names, Rows extends string> = string extends Names
  ? Names
  : Names extends string
    ? Plain<Names> extends Lowercase<Rows>
      ? Names
      : Rows
    : never;
