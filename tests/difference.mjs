// How results of one program with two libraries differ.

/** Where results differ: texts and counts at all, numbers beyond 1e-3 of their size or 1e-4. */
export function difference(wanted, got, where) {
  if (typeof wanted === 'number' && typeof got === 'number') {
    const isNear = Math.abs(wanted - got) <= 1e-4 + 1e-3 * Math.abs(wanted);
    return isNear ? undefined : `${where} is ${got}, not ${wanted}`;
  }
  if (typeof wanted !== 'object' || wanted === null || typeof got !== 'object' || got === null) {
    return wanted === got
      ? undefined
      : `${where} is ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`;
  }
  if (got.error !== undefined && wanted.error === undefined) return `${where}: ${got.error}`;
  const names = new Set([...Object.keys(wanted), ...Object.keys(got)]);
  for (const name of names) {
    const found = difference(wanted[name], got[name], `${where}[${name}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}
