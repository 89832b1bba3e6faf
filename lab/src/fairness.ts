/** Jain's index of fairness of goodputs: 1 if all are equal, 1/n if one has everything. */
export function fairness(goodputs: readonly number[]): number {
  const sum = goodputs.reduce((a, b) => a + b, 0);
  const squares = goodputs.reduce((a, b) => a + b * b, 0);
  return squares > 0 ? (sum * sum) / (goodputs.length * squares) : 1;
}
