// Sizes, times and money in words, always with units. Pure.

const day = 86_400_000;

export function formatDuration(ms: number): string {
  if (ms < 1) return '< 1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Since a beginning; nothing before it. */
export function formatOffset(ms: number): string {
  return ms < 1 ? '0 ms' : `+${formatDuration(ms)}`;
}

export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

export function formatTokens(tokens: number): string {
  if (tokens < 1000) return `${tokens} tokens`;
  return `${(tokens / 1000).toFixed(tokens < 100_000 ? 1 : 0)}k tokens`;
}

/** Null is an unknown price and says so. */
export function formatUsd(usd: number | null): string {
  if (usd === null) return 'cost unknown';
  if (usd === 0) return '$0';
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export type TimeGroup = 'Today' | 'This week' | 'Earlier';

/** By the calendar of the person's own clock: today, the six days before, older. */
export function timeGroup(atMs: number, nowMs: number): TimeGroup {
  const midnight = new Date(nowMs).setHours(0, 0, 0, 0);
  if (atMs >= midnight) return 'Today';
  return atMs >= midnight - 6 * day ? 'This week' : 'Earlier';
}

/** A time of day for today, a weekday for this week, else a date. */
export function formatWhen(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const group = timeGroup(atMs, nowMs);
  if (group === 'Today') return formatClock(atMs);
  if (group === 'This week') return at.toLocaleDateString('en-GB', { weekday: 'short' });
  return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
}

export function formatClock(atMs: number): string {
  return new Date(atMs).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

export function formatMoment(atMs: number): string {
  return new Date(atMs).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}

/** A markdown text as one plain row: its marks of emphasis and structure left out. */
export function plainLine(text: string, charsMax = 140): string {
  return oneLine(
    text
      .slice(0, charsMax * 4)
      .replace(/^\s*(?:#{1,6}|>|[-*+])\s+/gm, '')
      .replace(/\*\*|__|`+/g, ''),
    charsMax,
  );
}

/** The first line of a text, shortened for one row. */
export function oneLine(text: string, charsMax = 140): string {
  const line = text
    .slice(0, charsMax * 4)
    .trim()
    .replace(/\s+/g, ' ');
  return line.length > charsMax ? line.slice(0, charsMax - 1) + '…' : line;
}
