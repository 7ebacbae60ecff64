/** Camera and microphone: fetched on first use. */
export { webcam } from './camera.js';
export { microphone } from './microphone.js';
