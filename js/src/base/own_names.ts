/** Types of names of losses, metrics and optimizers. */

/**
 * Names that a program itself registers, for TypeScript:
 *
 *     declare module 'tensorlathe' {
 *       interface OwnNames { loss: 'mine'; metric: 'mine'; optimizer: 'lion' }
 *     }
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface OwnNames {}

/** The registered names of a kind. */
export type OwnName<Kind extends string> = OwnNames extends Record<Kind, infer Name> ? Name : never;

/** A name in snake_case, as of Keras. */
type Snake<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : Name;

/** A name in camelCase, PascalCase or snake_case. */
export type AnyCase<Name extends string> = Name | Capitalize<Name> | Snake<Name>;
