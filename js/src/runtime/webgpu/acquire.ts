/** Finds a GPU: in pages that of the browser, in Node that of Dawn in the npm package `webgpu`. */
import { LatheError, reasonOf } from '../../base/errors.js';
import { nodeModule, nodeProcess } from '../../base/node.js';

export interface GpuOptions {
  /** A device of the program's own; its features and limits are used as they are. */
  device?: GPUDevice | undefined;
  powerPreference?: GPUPowerPreference | undefined;
}

/** Limits of which all that the adapter has is requested. */
const limits = [
  'maxBindingsPerBindGroup',
  'maxBufferSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
  'maxComputeWorkgroupStorageSize',
  'maxComputeWorkgroupsPerDimension',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
] as const;

/** Features that are requested where the adapter has them. */
const features = ['shader-f16', 'subgroups', 'timestamp-query'] as const;

/** Dawn's implementation, which must outlive its devices. */
let dawn: GPU | undefined;
let reason: string | undefined;

/** Why the last attempt found no GPU; undefined if it found one or there was none. */
export const missingGpuReason = (): string | undefined => reason;

/** A new device, or the given one. Error: there is no GPU, with the reason. */
export async function acquireDevice(options: GpuOptions): Promise<GPUDevice> {
  try {
    const device = options.device ?? (await requestDevice(options));
    reason = undefined;
    return device;
  } catch (cause) {
    reason = reasonOf(cause);
    throw new LatheError(`WebGPU: ${reason}`, { cause });
  }
}

async function requestDevice({ powerPreference }: GpuOptions): Promise<GPUDevice> {
  const gpu = findApi();
  const core = powerPreference === undefined ? {} : { powerPreference };
  const compatibility = { ...core, featureLevel: 'compatibility' };
  const adapter = (await gpu.requestAdapter(core)) ?? (await gpu.requestAdapter(compatibility));
  if (adapter === null) throw new LatheError('there is no GPU that WebGPU can use');
  return adapter.requestDevice({
    label: 'tensorlathe',
    requiredFeatures: features.filter((each) => adapter.features.has(each)),
    requiredLimits: Object.fromEntries(limits.map((each) => [each, adapter.limits[each]])),
  });
}

function findApi(): GPU {
  const { navigator } = globalThis as { navigator?: { gpu?: GPU } };
  const api = navigator?.gpu ?? dawn;
  if (api !== undefined) return api;
  if (nodeProcess !== undefined) return (dawn = loadDawn());
  const isSecure = (globalThis as { isSecureContext?: boolean }).isSecureContext;
  throw new LatheError(
    isSecure === false
      ? 'only pages from https or localhost may use it'
      : 'the browser does not have it, or it is turned off',
  );
}

/** The npm package, resolved from this one, as the working directory is not trusted. */
function loadDawn(): GPU {
  type Dawn = { create(flags: string[]): GPU };
  try {
    const { create } = nodeModule('module').createRequire(import.meta.url)('webgpu') as Dawn;
    return create([]);
  } catch (cause) {
    const { code } = cause as { code?: string };
    const isAbsent = code === 'MODULE_NOT_FOUND';
    throw new LatheError(
      isAbsent
        ? 'Node needs the npm package webgpu, which is not installed: npm install webgpu'
        : `the npm package webgpu cannot be loaded: ${reasonOf(cause)}`,
      { cause },
    );
  }
}
