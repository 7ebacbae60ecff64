/** Finds a GPU: in pages that of the browser, in Node that of Dawn in the npm package `webgpu`. */
import { causedBy, LatheError, reasonOf } from '../../base/errors.js';
import { nodeModule } from '../../base/node.js';
import type { DeviceOptions } from '../device.js';
import { env, missingWebGpu, noteGpu } from '../env.js';

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

/** A new device, or the given one; `env` knows the result. Error: there is no GPU, with the reason. */
export async function acquireDevice(options: DeviceOptions): Promise<GPUDevice> {
  const { value, by, why } = env().report().WEBGPU;
  if (!value && by === 'set') throw new LatheError(`WebGPU: ${why}`);
  try {
    const device = (options.device as GPUDevice) ?? (await requestDevice(options));
    noteGpu();
    return device;
  } catch (cause) {
    const reason = reasonOf(cause);
    noteGpu(reason);
    throw new LatheError(`WebGPU: ${reason}`, causedBy(cause));
  }
}

async function requestDevice({ powerPreference }: DeviceOptions): Promise<GPUDevice> {
  const gpu = findApi();
  const core = powerPreference === undefined ? {} : { powerPreference };
  const compatibility = { ...core, featureLevel: 'compatibility' };
  const adapter = (await gpu.requestAdapter(core)) ?? (await gpu.requestAdapter(compatibility));
  if (adapter === null) {
    const needs = 'on Linux it needs libvulkan.so.1 (Debian: libvulkan1) and a Vulkan driver';
    const hint = gpu === dawn ? `; ${needs}` : '';
    throw new LatheError(`there is no GPU that WebGPU can use${hint}`);
  }
  return adapter.requestDevice({
    label: 'tensorlathe',
    requiredFeatures: features.filter((each) => adapter.features.has(each)),
    requiredLimits: Object.fromEntries(limits.map((each) => [each, adapter.limits[each]])),
  });
}

/** Threads of the smallest subgroup; undefined where shaders have none, or cannot tell which threads form one. */
export function subgroupThreads(device: GPUDevice): number | undefined {
  const has = device.features.has('subgroups' as GPUFeatureName);
  if (!has || !knownApi()?.wgslLanguageFeatures.has('subgroup_id')) return undefined;
  return (device as { adapterInfo?: { subgroupMinSize?: number } }).adapterInfo?.subgroupMinSize;
}

function knownApi(): GPU | undefined {
  return (globalThis as { navigator?: { gpu?: GPU } }).navigator?.gpu ?? dawn;
}

function findApi(): GPU {
  const api = knownApi();
  if (api !== undefined) return api;
  const why = missingWebGpu();
  if (why !== undefined) throw new LatheError(why);
  return (dawn = loadDawn());
}

/** The npm package, resolved from this one, as the working directory is not trusted. */
function loadDawn(): GPU {
  type Dawn = { create(flags: string[]): GPU };
  try {
    const { create } = nodeModule('module').createRequire(import.meta.url)('webgpu') as Dawn;
    return create([]);
  } catch (cause) {
    throw new LatheError(`the npm package webgpu cannot be loaded: ${reasonOf(cause)}`, { cause });
  }
}
