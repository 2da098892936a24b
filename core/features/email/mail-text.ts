// Separates the text that the sender of a mail wrote from quoted and forwarded text. Pure. Quoted text never counts as the sender's.

export interface MailText {
  readonly own: string;
  readonly quoted: string;
}

/** Lines after which everything belongs to an earlier mail, in the formats of common mail programs. */
const borders = [
  /^-{2,}\s*(?:original message|forwarded message|ursprüngliche nachricht|weitergeleitete nachricht|message d'origine)\s*-{2,}/i,
  /^begin forwarded message:/i,
  /^_{20,}\s*$/,
  /^(?:from|von|de|da):\s.+@.+/i,
];
/** Some programs write no address, and the date on the next line. */
const author = /^(?:from|von|de|da):\s*\S/i;
const moment = /^(?:sent|date|gesendet|datum|envoyé|enviado|inviato)\s*:/i;
/** "On Tuesday, Ada wrote:" or "Am Dienstag schrieb Ada:", on one or two lines. */
const introduction =
  /^(?:on|am|le|el|il|op|em)\b.{0,300}(?:wrote|schrieb|schreef|écrit|escribió|scritto|escreveu)(?:\s[^:]{0,200})?\s*:\s*$/i;

export function splitQuoted(text: string): MailText {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const isBorder = (line: string, next: string): boolean =>
    borders.some((pattern) => pattern.test(line)) || (author.test(line) && moment.test(next));
  const border = lines.findIndex((line, at) => isBorder(line.trim(), (lines[at + 1] ?? '').trim()));
  const kept = border === -1 ? lines : lines.slice(0, border);
  const own: string[] = [];
  const quoted: string[] = [];
  for (let at = 0; at < kept.length; at++) {
    const line = kept[at] ?? '';
    const next = kept[at + 1] ?? '';
    const isQuote = /^\s*>/.test(line);
    const isIntroduction = introduction.test(line.trim()) && /^\s*(?:>|$)/.test(next);
    const isLongIntroduction = !isIntroduction && next !== '' && introduction.test(`${line.trim()} ${next.trim()}`);
    if (isQuote || isIntroduction) quoted.push(line.replace(/^\s*>\s?/, ''));
    else if (isLongIntroduction) {
      quoted.push(line, next);
      at += 1;
    } else own.push(line);
  }
  const rest = border === -1 ? [] : lines.slice(border);
  return { own: withoutSignature(own).join('\n').trim(), quoted: [...quoted, ...rest].join('\n').trim() };
}

function withoutSignature(lines: readonly string[]): readonly string[] {
  const at = lines.findIndex((line) => line === '-- ' || line === '--');
  return at <= 0 ? lines : lines.slice(0, at);
}
