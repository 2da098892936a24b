import { expect, test } from 'vitest';
import { SafetyChecks } from '../../guard/safety/safety.ts';
import { LiveOutput } from './live-output.ts';

const secret = ['aB3dE5fG7hJ9kL2m', 'N4pQ6rS8'].join('');

/** The shown part of an output far longer than a piece, with a secret where the cut may be. */
function shownOf(lead: string, linesAfter: number): string {
  const safety = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
  let shown = '';
  const live = new LiveOutput({
    onOutput: (chunk) => void (shown += safety.redact(chunk).text),
    redaction: { redact: (text) => safety.redact(text).text, unfinishedAt: (text) => safety.unfinishedAt(text) },
  });
  const text = `${'first line\n'.repeat(4000)}${lead}${secret}\n${'x'.repeat(linesAfter)}`;
  for (let at = 0; at < text.length; at += 9000) live.push(Buffer.from(text.slice(at, at + 9000)));
  live.end();
  return shown;
}

test('a cut in a long output leaves nothing of a secret, wherever it falls', () => {
  for (let after = 15_950; after <= 16_010; after++) {
    const shown = shownOf('DB_PASSWORD=', after);
    expect(shown.length).toBeGreaterThan(10_000);
    for (let at = 0; at + 8 <= secret.length; at++) expect([after, shown.includes(secret.slice(at, at + 8))]).toEqual([after, false]);
  }
});

test('the newest part of a long output is shown, and a short output whole', () => {
  expect(shownOf('name: ', 10)).toMatch(/^….*first line\nname: aB3dE5fG7hJ9kL2mN4pQ6rS8\nx{10}$/s);
  let shown = '';
  const live = new LiveOutput({ onOutput: (chunk) => void (shown += chunk) });
  live.push(Buffer.from('ä'));
  live.end();
  expect(shown).toBe('ä');
});
