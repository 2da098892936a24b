// Describes in one line which tests were skipped and what they lacked. Each test states its needs through tests/needs.ts.

/**
 * `lacking`: how many tests were skipped, by what they need; tests that name no need are under ''. `withoutChromium`: how many end-to-end
 * test files were left out. Empty if everything ran.
 */
export function describeSkipped(lacking: Readonly<Record<string, number>>, withoutChromium: number): string {
  const tests = Object.entries(lacking)
    .filter(([need]) => need !== '')
    .sort(([, one], [, other]) => other - one)
    .map(([need, count]) => `${counted(count, 'test', 'tests')} ${need}`);
  const files = `${counted(withoutChromium, 'end-to-end file', 'end-to-end files')} a Chromium (install one or set TRAYCLAW_CHROMIUM to its path)`;
  const parts = withoutChromium > 0 ? [files, ...tests] : tests;
  const unnamed = lacking[''] ?? 0;
  if (unnamed > 0) parts.push(`${unnamed} left out by a filter or by hand`);
  return parts.length > 0 ? `skipped: ${parts.join('; ')}` : '';
}

function counted(count: number, one: string, more: string) {
  return count === 1 ? `1 ${one} needs` : `${count} ${more} need`;
}
