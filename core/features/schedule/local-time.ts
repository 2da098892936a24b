// The local time of a moment in a time zone.

/** The time zone of this machine. Read when needed, because loading Node's time zone data takes 8 MB and 15 ms. */
export const machineZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** For example `2026-01-31`. */
export function localDay(atMs: number, zone: string): string {
  const { year, month, day } = parts(atMs, zone);
  return `${year}-${month}-${day}`;
}

/** For example `2026-01-31 08:05:00`. */
export function localMoment(atMs: number, zone: string): string {
  const { hour, minute, second } = parts(atMs, zone);
  return `${localDay(atMs, zone)} ${hour}:${minute}:${second}`;
}

/** Minutes since midnight. */
export function minuteOfDay(atMs: number, zone: string): number {
  const { hour, minute } = parts(atMs, zone);
  return Number(hour) * 60 + Number(minute);
}

function parts(atMs: number, zone: string): Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', string> {
  const two = '2-digit';
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
  });
  const found = new Map(format.formatToParts(atMs).map(({ type, value }) => [type as string, value]));
  const get = (name: string): string => found.get(name) ?? '';
  return { year: get('year'), month: get('month'), day: get('day'), hour: get('hour'), minute: get('minute'), second: get('second') };
}
