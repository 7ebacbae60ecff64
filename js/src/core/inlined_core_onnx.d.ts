/** lathe-core-onnx.wasm, compressed by gzip, in base64. Written by js/scripts/build.mjs. */
declare const base64: string;
export default base64;
