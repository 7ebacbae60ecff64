/** esbuild plugin: makes dynamic imports external, so that unreachable modules add no wrappers. */
export const lazy = {
  name: 'lazy',
  setup(build) {
    build.onResolve({ filter: /./ }, ({ kind }) =>
      kind === 'dynamic-import' ? { external: true } : undefined,
    );
  },
};
