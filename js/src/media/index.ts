/** Camera and microphone: fetched when somebody asks for them. */
export { webcam } from './camera.js';
export { microphone } from './microphone.js';
