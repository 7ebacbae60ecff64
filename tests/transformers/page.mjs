// Runs the tasks in a page. The bundler resolves onnxruntime-web by an alias.
import * as transformers from '@huggingface/transformers';
import { runTasks } from './tasks.mjs';

transformers.env.allowRemoteModels = false;
transformers.env.allowLocalModels = true;
transformers.env.localModelPath = '/models/';
transformers.env.useBrowserCache = false;
window.result = JSON.stringify(await runTasks(transformers, { device: 'wasm' }));
