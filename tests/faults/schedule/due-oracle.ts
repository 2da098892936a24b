// The due times of cron lines, computed the slow way: every minute of a period is checked through Intl. Shares no code with the code under
// test.
//
// The rules: local time counts. A line without * and / in minute and hour is due once for a skipped time, at the first moment after the
// gap, and once for a repeated time, at its first occurrence. Any other line follows the labels as the clock shows them.

const MINUTE_MS = 60_000;

export function dueByWalk(expr: string, zone: string, fromMs: number, toMs: number): number[] {
  const [minutes = '', hours = '', days = '', months = '', weekdays = ''] = expr.split(' ');
  const isFixed = !/[*/]/.test(minutes + hours);
  const matches = (label: number): boolean => {
    const at = new Date(label * MINUTE_MS);
    const isDay = field(days, at.getUTCDate());
    const isWeekday = field(weekdays, at.getUTCDay()) || (at.getUTCDay() === 0 && field(weekdays, 7));
    // If both day and weekday are given, either is enough.
    const onDay = days !== '*' && weekdays !== '*' ? isDay || isWeekday : isDay && isWeekday;
    return field(minutes, at.getUTCMinutes()) && field(hours, at.getUTCHours()) && onDay && field(months, at.getUTCMonth() + 1);
  };
  const due: number[] = [];
  let seenTo = labelOf(zone, fromMs);
  for (let atMs = fromMs + MINUTE_MS; atMs <= toMs; atMs += MINUTE_MS) {
    const label = labelOf(zone, atMs);
    let isDue = matches(label);
    if (isFixed) {
      // A repeated label does not count again; skipped labels count now.
      isDue = label > seenTo && isDue;
      for (let skipped = seenTo + 1; skipped < label; skipped++) isDue ||= matches(skipped);
    }
    if (isDue) due.push(atMs);
    seenTo = Math.max(seenTo, label);
  }
  return due;
}

function field(pattern: string, value: number): boolean {
  return pattern.split(',').some((part) => {
    const [range = '', step = '1'] = part.split('/');
    const [low, high] = range === '*' ? [0, 99] : range.split('-').map(Number);
    const from = low ?? 0;
    const to = high ?? from;
    return value >= from && value <= to && (value - (range === '*' ? 0 : from)) % Number(step) === 0;
  });
}

const formats = new Map<string, Intl.DateTimeFormat>();
const labels = new Map<string, Map<number, number>>();

/** The reading of the local clock, counted in minutes as if it were UTC. */
function labelOf(zone: string, atMs: number): number {
  let known = labels.get(zone);
  if (known === undefined) labels.set(zone, (known = new Map()));
  const before = known.get(atMs);
  if (before !== undefined) return before;
  let format = formats.get(zone);
  if (format === undefined) {
    const two = 'numeric' as const;
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: two,
      month: two,
      day: two,
      hour: two,
      minute: two,
    });
    formats.set(zone, format);
  }
  const get = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  const label = Date.UTC(get['year'] ?? 0, (get['month'] ?? 1) - 1, get['day'] ?? 1, get['hour'] ?? 0, get['minute'] ?? 0) / MINUTE_MS;
  known.set(atMs, label);
  return label;
}
