/** Names as Keras and as this package spell them, by rule. Knows neither layers nor files. */

/** dilation_rate -> dilationRate, as TensorFlow.js does. */
export function toCamelCase(name: string): string {
  return name.length <= 1 || !name.includes('_')
    ? name
    : name.replace(/_+(\w|$)/g, (_, letter: string) => letter.toUpperCase());
}

/** dilationRate -> dilation_rate, as TensorFlow.js does. */
export function toSnakeCase(name: string): string {
  return name
    .replace(/(.)([A-Z][a-z0-9]+)/g, '$1_$2')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();
}

/** The one of `known` that a name means whatever its case and underscores. */
export function findName(name: string, known: readonly string[]): string | undefined {
  const plain = (each: string) => each.replaceAll('_', '').toLowerCase();
  return known.find((each) => plain(each) === plain(name));
}
