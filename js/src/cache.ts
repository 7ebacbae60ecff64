/** What is stored on the device for later visits. */

/** Removes the compiled models that `EXECUTABLE_CACHE` has stored on this device. */
export async function clear(): Promise<void> {
  await (await import('./runtime/stored_executables.js')).clearExecutables();
}
