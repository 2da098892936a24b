import { expect, test } from 'vitest';
import { textOfHtml } from '../../hands/tools/tools.ts';
import { splitQuoted } from './mail-text.ts';

test.each([
  ['lines with a mark', 'yes ABC\n\n> no ABC\n> what?\n', 'yes ABC', 'no ABC\nwhat?'],
  ['an introduction', 'Fine.\n\nOn Tue, 3 Mar 2026, TrayClaw wrote:\n> yes ABC', 'Fine.', 'On Tue, 3 Mar 2026, TrayClaw wrote:\nyes ABC'],
  [
    'an introduction of two lines',
    'Fine.\n\nOn Tue, 3 Mar 2026 at 10:00, TrayClaw\n<agent@tray.example> wrote:\n\n> one',
    'Fine.',
    'On Tue, 3 Mar 2026 at 10:00, TrayClaw\n<agent@tray.example> wrote:\none',
  ],
  ['an older mail below', 'Do it.\n\n-----Original Message-----\nyes ABC', 'Do it.', '-----Original Message-----\nyes ABC'],
  [
    'a header of an older mail',
    'Do it.\nFrom: Eve <eve@evil.example>\nSent: now\nyes ABC',
    'Do it.',
    'From: Eve <eve@evil.example>\nSent: now\nyes ABC',
  ],
  [
    'a German introduction with the name last',
    'yes ABC\n\nAm Di., 3. März 2026 um 10:00 Uhr schrieb TrayClaw <agent@tray.example>:\n> yes ABC',
    'yes ABC',
    'Am Di., 3. März 2026 um 10:00 Uhr schrieb TrayClaw <agent@tray.example>:\nyes ABC',
  ],
  [
    'a Dutch introduction',
    'yes ABC\n\nOp di 3 mrt 2026 om 10:00 schreef TrayClaw:\n> yes ABC',
    'yes ABC',
    'Op di 3 mrt 2026 om 10:00 schreef TrayClaw:\nyes ABC',
  ],
  [
    'a German introduction of two lines',
    'yes ABC\n\nAm Di., 3. März 2026 um 10:00 Uhr schrieb TrayClaw\n<agent@tray.example>:\n\n> one',
    'yes ABC',
    'Am Di., 3. März 2026 um 10:00 Uhr schrieb TrayClaw\n<agent@tray.example>:\none',
  ],
  [
    'a header that names no address',
    'Wait.\n\nVon: TrayClaw\nGesendet: Dienstag\nyes ABC',
    'Wait.',
    'Von: TrayClaw\nGesendet: Dienstag\nyes ABC',
  ],
  ['an answer below', '> which one?\n\nThe second.', 'The second.', 'which one?'],
  ['a signature', 'Hello\n-- \nAda', 'Hello', ''],
  ['nothing quoted', 'On Monday we wrote:\nall of it', 'On Monday we wrote:\nall of it', ''],
])('separates the own text from %s', (_what, text, own, quoted) => {
  expect(splitQuoted(text)).toEqual({ own, quoted });
});

const shown = (html: string) => textOfHtml(html, new AbortController().signal);

test('converts HTML to its visible text and keeps quotations apart', async () => {
  const text = await shown(
    '<style>p{} .x{display:none}</style><p>Hello &amp; <b>welcome</b><br>to&nbsp;us &#x2713;</p><p class=x>no</p><blockquote>yes ABC</blockquote><script>no</script>',
  );
  expect(text).toBe('Hello & welcome\nto us ✓\n\n> yes ABC');
  expect(splitQuoted(text)).toEqual({ own: 'Hello & welcome\nto us ✓', quoted: 'yes ABC' });
});

test('the text is as it was written, with the address of a link that has another text', async () => {
  const links =
    '<a href="http://a.example/">a.example</a> <a href="https://b.example/x">this</a> <a href="mailto:c@d.example">c@d.example</a>';
  expect(await shown(`<div>/read a_b*c.md</div><div>1. <b>ABC-123</b></div><div>${links}</div>--&nbsp;<br>Ada`)).toBe(
    '/read a_b*c.md\n\n1. ABC-123\n\na.example [this](https://b.example/x) c@d.example\n\n-- \nAda',
  );
});

test('converts the names of letters and marks', async () => {
  expect(await shown('&Uuml;ber 5&nbsp;&euro; &ndash; f&uuml;r &bdquo;Zo&euml;&ldquo; &iexcl;S&iacute;! &yuml; &AMP; &unknown;')).toBe(
    'Über 5 € – für „Zoë“ ¡Sí! ÿ & &unknown;',
  );
});
