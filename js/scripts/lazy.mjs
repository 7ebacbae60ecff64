/** For esbuild: what is imported on demand is left outside, so that what nobody reaches makes no wrappers around the rest. */
export const lazy = {
  name: 'lazy',
  setup(build) {
    build.onResolve({ filter: /./ }, ({ kind }) =>
      kind === 'dynamic-import' ? { external: true } : undefined,
    );
  },
};
