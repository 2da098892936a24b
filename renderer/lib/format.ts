// Calendar days, and texts shortened to one line. i18n/formats.ts formats sizes, times and money in a language. Pure.

const day = 86_400_000;

export type TimeGroup = 'Today' | 'This week' | 'Earlier';

/** By the person's local calendar: today, the six days before, older. */
export function timeGroup(atMs: number, nowMs: number): TimeGroup {
  const midnight = new Date(nowMs).setHours(0, 0, 0, 0);
  if (atMs >= midnight) return 'Today';
  return atMs >= midnight - 6 * day ? 'This week' : 'Earlier';
}

/** Markdown text as one plain line, without marks of emphasis and structure and without link addresses. */
export function plainLine(text: string, charsMax = 140): string {
  return oneLine(
    text
      .slice(0, charsMax * 4)
      .replace(/^[ |:-]*-{3}[ |:-]*$/gm, '')
      .replace(/^ *\|(.+)\| *$/gm, (_, cells: string) => cells.replace(/ *\| */g, ', '))
      .replace(/^\s*(?:#{1,6}|>|[-*+])\s+/gm, '')
      .replace(/!?\[([^\]\n]*)\]\([^)\s]*\)?/g, '$1')
      .replace(/\*\*|__|`{3,}\S*|`+/g, '')
      .replace(/\*(\S(?:[^*\n]*\S)?)\*/g, '$1'),
    charsMax,
  );
}

/** The first line of a text, shortened for one row. */
export function oneLine(text: string, charsMax = 140): string {
  const line = text
    .slice(0, charsMax * 4)
    .trim()
    .replace(/\s+/g, ' ');
  return line.length > charsMax ? line.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, '') + '…' : line;
}
