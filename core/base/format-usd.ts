// An amount of US dollars in plain text.

/** In cents, or in hundredths of one below a cent. An amount that is not zero never reads as zero. */
export function formatUsd(usd: number): string {
  if (usd > 0 && usd < 0.0001) return '< $0.0001';
  return `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
}
