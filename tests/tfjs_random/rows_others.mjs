// Recipes of transforms of Fourier, complex numbers, cells, matrices and signals.
const rows = {};

rows.complex = {
  draw: (c) => {
    c.finiteOnly = true;
    const x = c.any({ minRank: 1, where: (s) => !s.includes(0) });
    return x && [x, c.tensorOfShape(c.shapeOf(x))];
  },
  exact: true,
};
const complexes = (c) =>
  [...c.slots.values()].filter(({ dtype, shape }) => dtype === 'complex64' && shape.length > 0);
for (const name of ['real', 'imag'])
  rows[name] = {
    draw: (c) => {
      const found = complexes(c);
      return found.length > 0 ? [{ ref: c.draw.pick(found).id }] : undefined;
    },
    exact: true,
    rejected: 'it looks for the parts of numbers that have none; they are real here',
  };
for (const name of ['fft', 'ifft', 'irfft'])
  rows[name] = {
    draw: (c) => {
      // TensorFlow.js returns an extra axis for one axis, two for more than three, and one less for one or two numbers.
      const isSupported = ({ length, [length - 1]: last }) => length > 1 && length < 4 && last > 2;
      const found = complexes(c).filter(({ shape }) => name !== 'irfft' || isSupported(shape));
      return found.length > 0 ? [{ ref: c.draw.pick(found).id }] : undefined;
    },
  };
rows.rfft = {
  draw: (c) => {
    // Products with infinities are NaN here.
    c.finiteOnly = true;
    const x = c.any({ minRank: 1, where: (s) => !s.includes(0) });
    return x && [x, ...(c.draw.chance(0.3) ? [c.draw.size(1, c.shapeOf(x).at(-1) + 3)] : [])];
  },
  // The method of TensorFlow.js drops the length.
  isMethod: false,
};
rows['signal.hammingWindow'] = { draw: (c) => [c.draw.size(1, 12)], isRare: true };
rows['signal.hannWindow'] = { draw: (c) => [c.draw.size(1, 12)], isRare: true };
rows.cosineWindow = { draw: (c) => [c.draw.size(1, 12), 0.54, 0.46], isRare: true };
rows['signal.frame'] = {
  rejected: 'TensorFlow.js fails where steps are longer than frames',
  hangs: ([, , step]) => !(step > 0),
  draw: (c) => {
    const size = c.draw.size(2, 40);
    const more = c.draw.pick([[], [true], [true, 0.5]]);
    return [c.tensorOfShape([size]), c.draw.size(1, size), c.draw.size(1, 5), ...more];
  },
  exact: true,
};
rows['signal.stft'] = {
  hangs: rows['signal.frame'].hangs,
  draw: (c) => {
    c.finiteOnly = true;
    const size = c.draw.size(4, 40);
    return [c.tensorOfShape([size]), c.draw.size(2, Math.min(size, 9)), c.draw.size(1, 5)];
  },
  isRare: true,
};
rows['linalg.qr'] = {
  draw: (c) => {
    const shape = [...c.shape(c.draw.size(0, 1), 3), c.draw.size(1, 5), c.draw.size(1, 5)];
    return [c.between(shape, -2, 2), c.draw.chance(0.3)];
  },
  rejected: 'TensorFlow.js fails for higher matrices than wide ones without all columns',
  isRare: true,
};
rows['linalg.gramSchmidt'] = {
  draw: (c) => {
    const rows = c.draw.size(1, 4);
    return [c.between([rows, rows + c.draw.size(0, 3)], -2, 2)];
  },
  isRare: true,
};
rows.basicLSTMCell = {
  draw: (c) => {
    const [batch, width, units] = [c.draw.size(1, 4), c.draw.size(1, 5), c.draw.size(1, 5)];
    const weights = [c.tensorOfShape([width + units, 4 * units]), c.tensorOfShape([4 * units])];
    const states = [
      c.tensorOfShape([batch, width]),
      c.tensorOfShape([batch, units]),
      c.tensorOfShape([batch, units]),
    ];
    return [c.literal([], [1]), ...weights, ...states];
  },
  isRare: true,
};
rows.multiRNNCell = {
  draw: (c) => {
    const [batch, width, units] = [1, c.draw.size(1, 5), c.draw.size(1, 5)];
    const cells = [
      c.literal([], [1]),
      c.tensorOfShape([width + units, 4 * units]),
      c.tensorOfShape([4 * units]),
    ];
    return [
      cells,
      c.tensorOfShape([batch, width]),
      [c.tensorOfShape([batch, units])],
      [c.tensorOfShape([batch, units])],
    ];
  },
  run: (lib, [forgetBias, kernel, bias], data, cs, hs) =>
    lib.multiRNNCell(
      [(x, c, h) => lib.basicLSTMCell(forgetBias, kernel, bias, x, c, h)],
      data,
      cs,
      hs,
    ),
  isRare: true,
};

export const others = rows;
