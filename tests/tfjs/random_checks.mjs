// Checks of random numbers in specs: their mean, their deviation, and whether they look normal.

const meanOf = (values) => values.reduce((sum, each) => sum + each, 0) / values.length;

/** The mean of (value - mean)^power. */
function moment(values, power) {
  const mean = meanOf(values);
  return meanOf(Array.from(values, (each) => (each - mean) ** power));
}

function close(what, actual, expected, epsilon) {
  if (!(Math.abs(actual - expected) <= epsilon)) {
    throw new Error(`${what} is ${actual}, expected ${expected} ± ${epsilon}`);
  }
}

/** Throws unless mean and standard deviation are within epsilon of these. */
export function expectArrayInMeanStdRange(actual, mean, deviation, epsilon = 1e-3) {
  close('the mean', meanOf(Array.from(actual)), mean, epsilon);
  close('the deviation', Math.sqrt(moment(Array.from(actual), 2)), deviation, epsilon);
  expect().nothing();
}

/** The test of Jarque and Bera (1980) at the level 0.05, whose bound is the quantile of χ² with two degrees of freedom. */
export function jarqueBeraNormalityTest(values) {
  const all = Array.from(values);
  const variance = moment(all, 2);
  const skewness = moment(all, 3) / variance ** 1.5;
  const kurtosis = moment(all, 4) / variance ** 2;
  const statistic = (all.length / 6) * (skewness ** 2 + (kurtosis - 3) ** 2 / 4);
  if (!(statistic <= 5.991)) throw new Error(`not normal: the statistic is ${statistic} > 5.991`);
}
