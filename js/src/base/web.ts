/** What files are fetched with: `tensorlathe/tfjs` has it ask the platform that programs may replace. */
export const web: { fetch: typeof fetch } = { fetch: (...args) => globalThis.fetch(...args) };
