/** Matrix factorizations in float64 on row-major JavaScript arrays; independent of tensors. */

/** A matrix or a vector. */
export type Numbers = Float64Array;

/** An LU factorization with row pivoting: L (unit diagonal) and U packed in one matrix. */
export interface Triangles {
  readonly both: Numbers;
  /** The permutation: the source row of each row. */
  readonly rows: readonly number[];
  readonly sign: 1 | -1;
  /** Whether a pivot is 0. */
  readonly isSingular: boolean;
}

/** Gaussian elimination with partial pivoting: G. Golub, C. Van Loan, "Matrix Computations", 4th edition, section 3.4. */
export function triangles(matrix: Numbers, n: number): Triangles {
  const a = matrix.slice();
  const rows = Array.from({ length: n }, (_, at) => at);
  let [sign, isSingular]: [1 | -1, boolean] = [1, false];
  for (let k = 0; k < n; k += 1) {
    let best = k;
    for (let i = k + 1; i < n; i += 1) {
      if (Math.abs(a[i * n + k]!) > Math.abs(a[best * n + k]!)) best = i;
    }
    if (best !== k) {
      sign = sign === 1 ? -1 : 1;
      [rows[k], rows[best]] = [rows[best]!, rows[k]!];
      for (let j = 0; j < n; j += 1) {
        [a[k * n + j], a[best * n + j]] = [a[best * n + j]!, a[k * n + j]!];
      }
    }
    const pivot = a[k * n + k]!;
    if (pivot === 0) isSingular = true;
    else eliminate(a, n, k, pivot);
  }
  return { both: a, rows, sign, isSingular };
}

function eliminate(a: Numbers, n: number, k: number, pivot: number): void {
  for (let i = k + 1; i < n; i += 1) {
    const factor = (a[i * n + k]! /= pivot);
    if (factor === 0) continue;
    for (let j = k + 1; j < n; j += 1) a[i * n + j]! -= factor * a[k * n + j]!;
  }
}

/** Solves a·x = b for `columns` right-hand sides. */
export function solved({ both, rows }: Triangles, n: number, b: Numbers, columns: number): Numbers {
  const x = new Float64Array(n * columns);
  for (const [to, from] of rows.entries()) {
    x.set(b.subarray(from * columns, (from + 1) * columns), to * columns);
  }
  const subtract = (i: number, k: number) => {
    const factor = both[i * n + k]!;
    for (let j = 0; j < columns; j += 1) x[i * columns + j]! -= factor * x[k * columns + j]!;
  };
  for (let i = 0; i < n; i += 1) for (let k = 0; k < i; k += 1) subtract(i, k);
  for (let i = n - 1; i >= 0; i -= 1) {
    for (let k = i + 1; k < n; k += 1) subtract(i, k);
    for (let j = 0; j < columns; j += 1) x[i * columns + j]! /= both[i * n + i]!;
  }
  return x;
}

/** The determinant. */
export function determinant({ both, sign }: Triangles, n: number): number {
  let product: number = sign;
  for (let i = 0; i < n; i += 1) product *= both[i * n + i]!;
  return product;
}

/**
 * The lower triangle whose product with its transpose is the matrix, of which the lower triangle is read; or the number
 * of rows and columns that are not positive definite ("Matrix Computations", section 4.2).
 */
export function rootTriangle(matrix: Numbers, n: number): Numbers | number {
  const l = new Float64Array(n * n);
  for (let j = 0; j < n; j += 1) {
    for (let i = j; i < n; i += 1) {
      let rest = matrix[i * n + j]!;
      for (let k = 0; k < j; k += 1) rest -= l[i * n + k]! * l[j * n + k]!;
      if (i > j) l[i * n + j] = rest / l[j * n + j]!;
      else if (rest > 0 && rest < Infinity) l[i * n + i] = Math.sqrt(rest);
      else return j + 1;
    }
  }
  return l;
}

/** Upper bound of sweeps over all column pairs; a dozen has always been enough. */
const maxSweeps = 60;

/** Eigenvalues in ascending order, and the eigenvectors as columns. */
export interface Eigen {
  readonly values: Numbers;
  readonly vectors: Numbers;
}

/**
 * Of a symmetric matrix, of which the lower triangle is read: cyclic Jacobi ("Matrix Computations", section 8.5). NaNs
 * where the matrix is not finite.
 */
export function eigen(matrix: Numbers, n: number): Eigen {
  const a = matrix.slice();
  for (let i = 0; i < n; i += 1) for (let j = 0; j < i; j += 1) a[j * n + i] = a[i * n + j]!;
  if (!a.every(Number.isFinite)) return { values: a.fill(NaN).slice(0, n), vectors: a };
  const v = identity(n);
  for (let sweep = 0, rotated = true; rotated && sweep < maxSweeps; sweep += 1) {
    rotated = false;
    for (let p = 0; p < n; p += 1) {
      for (let q = p + 1; q < n; q += 1) if (rotatePair(a, v, n, p, q)) rotated = true;
    }
  }
  const diagonal = Float64Array.from({ length: n }, (_, at) => a[at * n + at]!);
  const order = [...diagonal.keys()].sort((i, j) => diagonal[i]! - diagonal[j]!);
  return {
    values: Float64Array.from(order, (at) => diagonal[at]!),
    vectors: columnsOf(v, n, n, order),
  };
}

/** Annihilates one off-diagonal pair; returns whether it was significant. */
function rotatePair(a: Numbers, v: Numbers, n: number, p: number, q: number): boolean {
  const off = a[p * n + q]!;
  const [app, aqq] = [a[p * n + p]!, a[q * n + q]!];
  if (Math.abs(off) <= Number.EPSILON * Math.sqrt(Math.abs(app)) * Math.sqrt(Math.abs(aqq))) {
    a[p * n + q] = a[q * n + p] = 0;
    return false;
  }
  const [c, s] = rotation((aqq - app) / (2 * off));
  for (let k = 0; k < n; k += 1) turn(a, k * n + p, k * n + q, c, s);
  for (let k = 0; k < n; k += 1) turn(a, p * n + k, q * n + k, c, s);
  for (let k = 0; k < n; k += 1) turn(v, k * n + p, k * n + q, c, s);
  a[p * n + q] = a[q * n + p] = 0;
  return a[p * n + p] !== app || a[q * n + q] !== aqq;
}

/** Cosine and sine of the smaller angle whose doubled cotangent is the argument. */
function rotation(cotangent: number): [number, number] {
  const t = (cotangent < 0 ? -1 : 1) / (Math.abs(cotangent) + Math.hypot(1, cotangent));
  const c = 1 / Math.hypot(1, t);
  return [c, t * c];
}

function turn(a: Numbers, p: number, q: number, c: number, s: number): void {
  const [x, y] = [a[p]!, a[q]!];
  a[p] = c * x - s * y;
  a[q] = s * x + c * y;
}

/** A matrix [m,n] as u·s·vᵀ: s descending and not negative, u and v with orthonormal columns. */
export interface Singular {
  readonly u: Numbers;
  readonly s: Numbers;
  readonly v: Numbers;
}

/**
 * One-sided Jacobi: columns are rotated until all are orthogonal ("Matrix Computations", section 8.6.3; J. Demmel,
 * K. Veselić, "Jacobi's method is more accurate than QR", SIAM J. Matrix Anal. Appl. 13, 1992). With `full`, u and v
 * are square; else they have min(m,n) columns. NaNs where the matrix is not finite.
 */
export function singular(matrix: Numbers, m: number, n: number, full: boolean): Singular {
  if (m < n) {
    const { u, s, v } = singular(transposed(matrix, m, n), n, m, full);
    return { u: v, s, v: u };
  }
  const uColumns = full ? m : n;
  if (!matrix.every(Number.isFinite)) {
    const nans = (count: number) => new Float64Array(count).fill(NaN);
    return { u: nans(m * uColumns), s: nans(n), v: nans(n * n) };
  }
  const largest = matrix.reduce((maximum, each) => Math.max(maximum, Math.abs(each)), 0) || 1;
  const a = matrix.map((each) => each / largest);
  const v = identity(n);
  for (let sweep = 0, rotated = true; rotated && sweep < maxSweeps; sweep += 1) {
    rotated = false;
    for (let p = 0; p < n; p += 1) {
      for (let q = p + 1; q < n; q += 1) if (rotateColumns(a, v, m, n, p, q)) rotated = true;
    }
  }
  const lengths = Float64Array.from({ length: n }, (_, j) => lengthOf(a, m, n, j));
  const order = [...lengths.keys()].sort((i, j) => lengths[j]! - lengths[i]!);
  const s = Float64Array.from(order, (at) => lengths[at]!);
  const u = new Float64Array(m * uColumns);
  for (const [to, from] of order.entries()) {
    if (s[to]! <= Number.EPSILON * s[0]! * m) continue;
    for (let i = 0; i < m; i += 1) u[i * uColumns + to] = a[i * n + from]! / s[to]!;
  }
  complete(u, m, uColumns);
  return { u, s: s.map((each) => each * largest), v: columnsOf(v, n, n, order) };
}

function rotateColumns(
  a: Numbers,
  v: Numbers,
  m: number,
  n: number,
  p: number,
  q: number,
): boolean {
  let [pp, qq, pq] = [0, 0, 0];
  for (let at = 0; at < m * n; at += n) {
    const [x, y] = [a[at + p]!, a[at + q]!];
    pp += x * x;
    qq += y * y;
    pq += x * y;
  }
  if (Math.abs(pq) <= 4 * Number.EPSILON * Math.sqrt(pp) * Math.sqrt(qq)) return false;
  const [c, s] = rotation((qq - pp) / (2 * pq));
  for (let at = 0; at < m * n; at += n) turn(a, at + p, at + q, c, s);
  for (let at = 0; at < n * n; at += n) turn(v, at + p, at + q, c, s);
  return true;
}

function lengthOf(a: Numbers, rows: number, columns: number, column: number): number {
  let sum = 0;
  for (let i = 0; i < rows; i += 1) sum += a[i * columns + column]! ** 2;
  return Math.sqrt(sum);
}

/** Replaces zero columns by unit vectors orthogonal to all others, starting from the basis vector furthest from them. */
function complete(u: Numbers, rows: number, columns: number): void {
  for (let to = 0; to < columns; to += 1) {
    if (lengthOf(u, rows, columns, to) > 0) continue;
    const covered = Float64Array.from({ length: rows }, (_, i) => {
      const row = u.subarray(i * columns, (i + 1) * columns);
      return row.reduce((sum, each) => sum + each * each, 0);
    });
    const next = new Float64Array(rows);
    next[covered.indexOf(covered.reduce((least, each) => Math.min(least, each)))] = 1;
    for (let twice = 0; twice < 2; twice += 1) {
      for (let j = 0; j < columns; j += 1) {
        if (j !== to) removeAlong(next, u, columns, j);
      }
    }
    const length = lengthOf(next, rows, 1, 0);
    for (let i = 0; i < rows; i += 1) u[i * columns + to] = next[i]! / length;
  }
}

function removeAlong(vector: Numbers, u: Numbers, columns: number, j: number): void {
  let along = 0;
  for (let i = 0; i < vector.length; i += 1) along += vector[i]! * u[i * columns + j]!;
  for (let i = 0; i < vector.length; i += 1) vector[i]! -= along * u[i * columns + j]!;
}

/** The cofactor matrix, also of singular matrices. */
export function cofactors(matrix: Numbers, n: number): Numbers {
  const { u, s, v } = singular(matrix, n, n, false);
  const sign = determinant(triangles(u, n), n) * determinant(triangles(v, n), n) < 0 ? -1 : 1;
  const others = s.map((_, at) =>
    s.reduce((all, each, of) => (of === at ? all : all * each), sign),
  );
  const found = new Float64Array(n * n);
  for (let i = 0; i < n; i += 1) {
    for (let j = 0; j < n; j += 1) {
      for (let k = 0; k < n; k += 1)
        found[i * n + j]! += u[i * n + k]! * others[k]! * v[j * n + k]!;
    }
  }
  return found;
}

/** The identity matrix. */
export function identity(n: number): Numbers {
  const found = new Float64Array(n * n);
  for (let i = 0; i < n; i += 1) found[i * n + i] = 1;
  return found;
}

/** The transpose. */
export function transposed(a: Numbers, rows: number, columns: number): Numbers {
  const found = new Float64Array(a.length);
  for (let i = 0; i < rows; i += 1) {
    for (let j = 0; j < columns; j += 1) found[j * rows + i] = a[i * columns + j]!;
  }
  return found;
}

function columnsOf(a: Numbers, rows: number, columns: number, order: readonly number[]): Numbers {
  const found = new Float64Array(rows * order.length);
  for (let i = 0; i < rows; i += 1) {
    for (const [to, from] of order.entries()) found[i * order.length + to] = a[i * columns + from]!;
  }
  return found;
}
