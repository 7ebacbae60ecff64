/** The base of relative addresses in a page; undefined in workers created from a Blob. */
export function pageAddress(): string | undefined {
  const address = globalThis.document?.baseURI ?? globalThis.location?.href;
  return /^(blob|data):/.test(address ?? '') ? undefined : address;
}
