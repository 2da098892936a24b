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

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', ...typographic() };

/** The names of HTML for the letters from U+00A1 on, in order, and for the marks that text programs set. */
function typographic(): Record<string, string> {
  const latin = `iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot
    cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave
    Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute
    acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml
    divide oslash ugrave uacute ucirc uuml yacute thorn yuml`;
  const letters = latin.split(/\s+/).map((name, at) => [name, String.fromCodePoint(0xa1 + at)] as const);
  const marks = { euro: '€', hellip: '…', ndash: '–', mdash: '—', lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“', rdquo: '”', bdquo: '„' };
  return { ...Object.fromEntries(letters), ...marks, bull: '•', trade: '™' };
}

/** The text of a mail that has only HTML. Quotations keep a mark. */
export function textOfHtml(html: string): string {
  const text = html
    .replaceAll(/<!--[^]*?-->/g, '')
    .replaceAll(/<(script|style|head|title)\b[^]*?<\/\1\s*>/gi, '')
    .replaceAll(/<blockquote\b[^>]*>/gi, '\n-- Forwarded message --\n')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/-- Forwarded message --/g, '\n-- Forwarded message --\n')
    .replaceAll(/<br\b[^>]*>/gi, '\n')
    .replaceAll(/<\/(?:p|div|tr|h[1-6]|li|ul|ol|table|blockquote)\s*>/gi, '\n')
    .replaceAll(/<li\b[^>]*>/gi, '- ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (whole, decimal: string, hex: string, name: string) =>
      name === undefined
        ? characterOf(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal))
        : (named[name] ?? named[name.toLowerCase()] ?? whole),
    );
  return text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function characterOf(code: number): string {
  return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? '' : String.fromCodePoint(code);
}
