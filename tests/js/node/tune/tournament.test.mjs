// The tournament of schedules on machines of given speeds: which is the fastest, and whether that is confirmed.
import assert from 'node:assert/strict';
import test from 'node:test';
import { compete } from '../../../../js/dist/tune/tournament.js';

/** A contestant with the durations of its calls; `busy(comparison)` is the factor of the machine's other work, 0 in the tournament. */
class Contestant {
  milliseconds = Infinity;
  comparison = 0;
  measured = 0;

  constructor(duration, busy = () => 1, result = 0) {
    Object.assign(this, { duration, busy, result });
  }

  measure(_, counts) {
    this.measured += 1;
    const now = this.duration * this.busy(this.comparison);
    if (counts) this.milliseconds = Math.min(this.milliseconds, now);
  }

  restart() {
    this.comparison += 1;
    this.milliseconds = Infinity;
  }

  agrees(other) {
    return this.result === other.result;
  }
}

const endless = { isLate: () => false, pause: async () => {} };
const race = (standard, ...candidates) =>
  compete(
    standard,
    candidates.map((each) => () => each),
    endless,
  );

test('on an idle machine the fastest is confirmed', async () => {
  const [standard, fast, slow] = [2, 1, 3].map((duration) => new Contestant(duration));
  const result = await race(standard, slow, fast);
  assert.equal(result.best, fast);
  assert.deepEqual([result.speedup, result.isConfirmed, result.isComplete], [2, true, true]);
  assert.deepEqual(
    result.tried.map(({ milliseconds }) => milliseconds),
    [3, 1],
  );
  assert.deepEqual([standard.comparison, fast.comparison, slow.comparison], [2, 2, 0]);
});

test('the fastest of many is found, four at a time', async () => {
  const standard = new Contestant(20);
  const others = Array.from({ length: 11 }, (_, at) => new Contestant(20 - at));
  assert.equal((await race(standard, ...others)).best, others[10]);
});

test('a standard schedule that nothing beats by a margin needs no confirmation', async () => {
  const standard = new Contestant(1);
  const result = await race(standard, new Contestant(0.99), new Contestant(5));
  assert.equal(result.best, standard);
  assert.deepEqual([result.speedup, result.isConfirmed, standard.comparison], [1, true, 0]);
});

test('a candidate with other results cannot win', async () => {
  const standard = new Contestant(2);
  const { best } = await race(standard, new Contestant(1, undefined, 7));
  assert.equal(best, standard);
});

const busyMachines = {
  'only while the standard schedule ran in the tournament': [(at) => (at === 0 ? 3 : 1), () => 1.5],
  'in the second comparison, in which the winner loses': [() => 1, (at) => (at === 2 ? 3 : 1)],
  'in the second comparison, for both': [(at) => (at === 2 ? 2 : 1), (at) => (at === 2 ? 2 : 1)],
};
for (const [when, [ofStandard, ofFast]] of Object.entries(busyMachines)) {
  test(`not confirmed: the machine is busy ${when}`, async () => {
    const standard = new Contestant(1.5, ofStandard);
    const result = await race(standard, new Contestant(1, ofFast));
    assert.equal(result.best, standard);
    assert.deepEqual([result.speedup, result.isConfirmed], [1, false]);
  });
}

test('the least speedup counts where the machine is a little busy', async () => {
  const standard = new Contestant(2, (at) => (at === 1 ? 1.1 : 1));
  assert.equal((await race(standard, new Contestant(1))).speedup, 2);
});

test('without time nothing is measured; a late one is not complete', async () => {
  const make = () => assert.fail('not made');
  const late = { ...endless, isLate: () => true };
  assert.equal(await compete(new Contestant(1), [make], late), undefined);
  let calls = 0;
  const soon = { ...endless, isLate: () => ++calls > 8 };
  const result = await compete(new Contestant(2), [() => new Contestant(1)], soon);
  assert.equal(result.isComplete, false);
});
