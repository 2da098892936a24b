// Calendar days in this machine's time zone. Pure arithmetic over Date; reads no current time.

/** The local calendar day an instant falls on, as YYYY-MM-DD. */
export function localDay(atMs: number): string {
  const date = new Date(atMs);
  const month = String(date.getMonth() + 1).padStart(2, '0');
  return `${date.getFullYear()}-${month}-${String(date.getDate()).padStart(2, '0')}`;
}

/** The instant a local day began, `daysBack` days before the one of `atMs`. Right across changes of summer time. */
export function localDayStartMs(atMs: number, daysBack = 0): number {
  const date = new Date(atMs);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - daysBack).getTime();
}
