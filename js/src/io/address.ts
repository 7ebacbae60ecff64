/** What relative addresses begin at, in a page; workers made of a Blob have no such address. */
export function pageAddress(): string | undefined {
  const address = globalThis.document?.baseURI ?? globalThis.location?.href;
  return /^(blob|data):/.test(address ?? '') ? undefined : address;
}
