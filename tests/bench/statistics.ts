// Order statistics over samples in milliseconds or any other unit. Pure.

export interface Summary {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Linear interpolation between the closest ranks; NaN for no samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = Float64Array.from(samples).sort();
  const rank = (sorted.length - 1) * share;
  const below = sorted[Math.floor(rank)];
  const above = sorted[Math.ceil(rank)];
  if (below === undefined || above === undefined) return Number.NaN;
  return below + (above - below) * (rank - Math.floor(rank));
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5);

export function summarize(samples: readonly number[]): Summary {
  return { count: samples.length, p50: median(samples), p99: quantile(samples, 0.99), max: quantile(samples, 1) };
}
