/** Little of a result, enough to see whether two peers computed the same. */

const sampleCount = 1024;
const tolerance = 1e-3;

/** Where a result of this length is looked at. */
export const samplePositions = (length) =>
  Array.from({ length: Math.min(length, sampleCount) }, (_, i) =>
    length <= sampleCount ? i : Math.floor(((i * 0.6180339887498949) % 1) * length),
  );

export function digest(data) {
  let squares = 0;
  for (const each of data) squares += each * each;
  return {
    length: data.length,
    rms: Math.sqrt(squares / data.length),
    samples: samplePositions(data.length).map((position) => data[position]),
  };
}

const middle = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** Names of digests that disagree with the middle of all, with what is wrong about each. */
export function disagreements(digests) {
  const list = Object.values(digests);
  const length = middle(list.map((each) => each.length));
  const sameLength = list.filter((each) => each.length === length);
  const rms = middle(sameLength.map((each) => each.rms));
  const expected = samplePositions(length).map((_, i) =>
    middle(sameLength.map((each) => each.samples[i])),
  );
  const wrong = {};
  for (const [name, each] of Object.entries(digests)) {
    if (each.length !== length)
      wrong[name] = `returned ${each.length} numbers instead of ${length}`;
    else {
      const at = expected.findIndex(
        (value, i) => !(Math.abs(each.samples[i] - value) <= tolerance * (Math.abs(value) + rms)),
      );
      const position = samplePositions(length)[at];
      if (at >= 0) {
        wrong[name] = `computed ${each.samples[at]} at ${position}, others ${expected[at]}`;
      }
    }
  }
  return wrong;
}
