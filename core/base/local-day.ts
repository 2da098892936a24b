// Calendar days in this machine's time zone. Pure arithmetic over Date; does not read the current time.

/** Returns the local calendar day of an instant, as YYYY-MM-DD. */
export function localDay(atMs: number): string {
  const date = new Date(atMs);
  const month = String(date.getMonth() + 1).padStart(2, '0');
  return `${date.getFullYear()}-${month}-${String(date.getDate()).padStart(2, '0')}`;
}

/**
 * Returns the instant at which a local day began, `daysBack` days before the day of `atMs`. Correct across changes of daylight saving time.
 */
export function localDayStartMs(atMs: number, daysBack = 0): number {
  const date = new Date(atMs);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - daysBack).getTime();
}
