/** Assembles model.json and its weight files to artifacts. */
import { loadFormats } from '../core/formats.js';
import { joinBytes, type ModelArtifacts, type ModelJson } from './artifacts.js';
import { checkWeights } from './weight_data.js';

/** One file of a model. */
export interface WeightFile {
  path: string;
  data: Uint8Array;
}

/**
 * All artifacts of a model; only the topology if model.json lists no weights. Errors: a group with fewer or more bytes than its tensors; invalid
 * specifications.
 */
export async function assemble(
  json: ModelJson,
  groups: WeightFile[][],
  file: string,
): Promise<ModelArtifacts> {
  await loadFormats();
  const { weightsManifest: manifest, ...rest } = json;
  if (manifest === undefined || manifest === null) return rest;
  manifest.forEach(({ weights }, at) => {
    const files = groups[at]!;
    const names = files.map(({ path }) => path).join(', ');
    const bytes = files.reduce((total, { data }) => total + data.byteLength, 0);
    checkWeights(weights, bytes, `${file}: ${names || 'no weight file'}`);
  });
  const weightSpecs = manifest.flatMap(({ weights }) => weights);
  const weightData = joinBytes(groups.flat().map(({ data }) => data));
  return { ...rest, weightSpecs, weightData };
}
