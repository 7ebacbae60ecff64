// How people write the ten digits: for each some ways, each way some strokes, each stroke its points "x,y" in hundredths of a
// box, y down. `curve` is smooth through its points, `line` has corners.

const stroke = (smooth) => (text) => ({
  smooth,
  points: text.split(' ').map((point) => point.split(',').map((value) => Number(value) / 100)),
});
const curve = stroke(true);
const line = stroke(false);

const oval = '50,5 30,14 20,38 21,64 32,88 50,95 69,87 79,63 80,38 70,13 50,5';
const openOval = '50,5 30,14 20,38 21,64 32,88 50,95 69,87 79,63 80,38 70,13 58,10';
const belly = '44,47 68,55 77,72 66,90 45,95 22,86';
const head = '72,30 62,10 42,5 27,18 28,38 42,50 60,45 72,30';
const hook = '22,28 32,10 55,5 75,18 74,38 56,60';

/** glyphs[digit] = ways to write it. */
export const glyphs = [
  [[curve(oval)], [curve(openOval)], [curve(oval), line('68,20 34,80')]],
  [
    [line('50,5 50,95')],
    [line('32,24 52,5 52,95')],
    [line('32,24 50,5 50,94'), line('28,95 74,95')],
  ],
  [
    [curve(`${hook} 36,78 20,94`), line('20,94 82,92')],
    [curve(`${hook} 34,86 20,86 24,74 42,80 62,94 84,88`)],
    [line('22,20 50,6 76,22 20,94 80,94')],
  ],
  [
    [curve('24,16 46,5 70,14 68,36 44,47'), curve(belly)],
    [line('24,7 74,7 46,42'), curve('46,42 70,50 77,70 64,90 22,88')],
  ],
  [
    [line('62,5 18,64 84,64'), line('64,34 62,96')],
    [line('26,8 22,52 78,50'), line('74,6 68,95')],
    [line('68,96 70,5 16,60 86,62')],
  ],
  [
    [line('76,7 32,7 28,44'), curve('28,44 50,38 73,48 76,72 54,94 22,86')],
    [curve('78,10 52,8 30,16 32,38 56,46 74,64 62,90 36,95 22,84')],
  ],
  [
    [curve('66,6 42,20 27,46 26,76 45,95 68,88 74,68 60,52 40,56 28,72')],
    [curve('48,5 32,40 27,72 42,94 64,92 70,74 54,62 32,74')],
  ],
  [
    [line('20,8 78,8 42,95')],
    [line('20,8 78,8 42,95'), line('34,50 70,48')],
    [curve('18,20 24,8 50,12 78,7 60,40 46,70 44,95')],
  ],
  [
    [curve('52,47 30,34 30,14 50,5 70,13 70,32 48,48 27,65 27,86 50,95 74,86 74,64 52,47')],
    [curve('74,18 50,5 28,18 38,40 66,60 74,82 50,95 27,84 36,60 64,38 74,18')],
  ],
  [
    [curve(head), line('72,28 68,95')],
    [curve(head), curve('72,28 74,60 62,86 34,94')],
  ],
];
