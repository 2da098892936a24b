// How long things took, as counts in buckets that grow by a tenth: small to keep, quick to add up, percentiles within 5 %. Pure.

/** Counts by bucket; a bucket that holds nothing is not there. */
export type LatencyHistogram = Readonly<Record<string, number>>;

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

const growth = 1.1;

/** 0 is everything below a millisecond; a day of waiting is bucket 193. */
function bucketOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.floor(Math.log(ms) / Math.log(growth));
}

/** The middle of a bucket, as its borders multiply. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 0.5 : growth ** (bucket - 0.5);
}

/** `count` is negative to take one out again. */
export function countLatency(histogram: LatencyHistogram, ms: number | null, count: number): LatencyHistogram {
  return ms === null ? histogram : mergeLatencies([histogram, { [bucketOf(ms)]: count }]);
}

export function mergeLatencies(histograms: readonly LatencyHistogram[]): LatencyHistogram {
  const merged = new Map<string, number>();
  for (const histogram of histograms) {
    for (const [bucket, count] of Object.entries(histogram)) merged.set(bucket, (merged.get(bucket) ?? 0) + count);
  }
  return Object.fromEntries([...merged].filter(([, count]) => count !== 0));
}

/** Null where nothing was measured. */
export function percentilesOf(histogram: LatencyHistogram): Percentiles | null {
  const buckets = Object.entries(histogram)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  const at = (share: number): number => {
    let passed = 0;
    const found = buckets.find(([, count]) => (passed += count) >= share * total);
    return Math.round(middleOf(found?.[0] ?? 0) * 10) / 10;
  };
  return { p50: at(0.5), p95: at(0.95) };
}
