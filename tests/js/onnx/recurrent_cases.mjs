// Recurrent layers in forms that the ONNX conformance cases do not cover.
import { int32, normal, single } from './single.mjs';
import { tensor } from './write.mjs';

const f32 = 'float32';

/** Pseudo-random 8-bit integers. */
const bytes = (dtype, ...shape) => {
  const count = shape.reduce((product, size) => product * size, 1);
  const least = dtype === 'int8' ? 128 : 0;
  return tensor(
    dtype,
    Array.from({ length: count }, (_, k) => ((k * 89 + 31) % 256) - least),
    shape,
  );
};

/** LSTM with weights of 8 bits, as quantize_dynamic of ONNX Runtime writes it. */
function ofBytes() {
  const scales = (...shape) => {
    const count = shape.reduce((product, size) => product * size, 1);
    return tensor(
      f32,
      Array.from({ length: count }, (_, k) => 0.002 + (k % 5) / 2000),
      shape,
    );
  };
  const layer = (name, dtype, zero, perChannel, extra, attributes) => {
    const d = attributes.direction === 'bidirectional' ? 2 : 1;
    const along = perChannel ? [d, 24] : [d];
    const zeros = () => tensor(dtype, Array(perChannel ? d * 24 : d).fill(zero), along);
    const operands = [
      normal(5, 3, 4),
      bytes(dtype, d, 4, 24),
      bytes(dtype, d, 6, 24),
      normal(d, 48),
      ...extra(d),
      scales(...along),
      zeros(),
      scales(...along),
      zeros(),
    ];
    return single(
      name,
      'DynamicQuantizeLSTM',
      operands,
      [f32, f32, f32],
      { hidden_size: 6, ...attributes },
      { domain: 'com.microsoft', fixed: [1, 2, 3, 8, 9, 10, 11] },
    );
  };
  const none = () => [null, null, null, null];
  const states = (d) => [null, normal(d, 3, 6), normal(d, 3, 6), normal(d, 18)];
  return [
    layer('lstm of bytes', 'uint8', 120, false, none, { direction: 'bidirectional' }),
    layer('lstm of signed bytes', 'int8', 0, true, states, { direction: 'reverse' }),
  ];
}

export function recurrentCases() {
  const layer = (name, op, gates, attributes, extra = [], outputs = [f32, f32]) => {
    const d = attributes.direction === 'bidirectional' ? 2 : 1;
    const first = [
      normal(5, 3, 4),
      normal(d, gates * 6, 4),
      normal(d, gates * 6, 6),
      normal(d, gates * 12),
    ];
    return single(name, op, [...first, ...extra.map((make) => make(d))], outputs, {
      hidden_size: 6,
      ...attributes,
    });
  };
  const lengths = () => int32([5, 2, 3]);
  const state = (d) => normal(d, 3, 6);
  const none = () => null;
  const holes = (d) => normal(d, 18);
  const lstm = [f32, f32, f32];
  return [
    layer('rnn', 'RNN', 1, { direction: 'reverse', activations: ['Relu'] }, [none, state]),
    layer('rnn: lengths', 'RNN', 1, { direction: 'bidirectional' }, [lengths]),
    layer('gru', 'GRU', 3, { direction: 'bidirectional' }, [none, state]),
    layer('gru: linear first', 'GRU', 3, { linear_before_reset: 1, direction: 'reverse' }, [
      lengths,
      state,
    ]),
    layer('gru: other functions', 'GRU', 3, {
      activations: ['HardSigmoid', 'Softsign'],
      clip: 0.5,
    }),
    layer('lstm', 'LSTM', 4, { direction: 'bidirectional' }, [none, state, state], lstm),
    layer(
      'lstm: lengths',
      'LSTM',
      4,
      { direction: 'bidirectional' },
      [lengths, state, state],
      lstm,
    ),
    layer(
      'lstm: peepholes',
      'LSTM',
      4,
      { direction: 'reverse' },
      [lengths, state, state, holes],
      lstm,
    ),
    layer(
      'lstm: clip',
      'LSTM',
      4,
      { clip: 0.3, activations: ['Sigmoid', 'Tanh', 'Elu'] },
      [],
      lstm,
    ),
    layer('lstm: coupled', 'LSTM', 4, { input_forget: 1 }, [], lstm),
    ...ofBytes(),
  ];
}
