// Makes the invisible visible: control, format, bidirectional and look-alike characters and piled marks become named escapes, so that a
// person approves exactly what they read. Groups follow Unicode TR 36 and TR 39 (16.0); the look-alike table covers letters and marks that
// look like ASCII in common fonts.

export interface RevealSegment {
  /** The original text, or the escape that replaces it. */
  readonly text: string;
  readonly kind: 'plain' | 'hidden' | 'lookalike';
  /** The name of the character; empty for plain text. */
  readonly note: string;
}

const hiddenNames: ReadonlyMap<number, string> = new Map([
  [0x0d, 'carriage return'],
  [0x1b, 'escape'],
  [0x7f, 'delete'],
  [0xa0, 'no-break space'],
  [0xad, 'soft hyphen'],
  [0x61c, 'Arabic letter mark'],
  [0x200b, 'zero width space'],
  [0x200c, 'zero width non-joiner'],
  [0x200d, 'zero width joiner'],
  [0x200e, 'left-to-right mark'],
  [0x200f, 'right-to-left mark'],
  [0x2028, 'line separator'],
  [0x2029, 'paragraph separator'],
  [0x202a, 'left-to-right embedding'],
  [0x202b, 'right-to-left embedding'],
  [0x202c, 'end of direction change'],
  [0x202d, 'left-to-right override'],
  [0x202e, 'right-to-left override'],
  [0x2060, 'word joiner'],
  [0x2066, 'left-to-right isolate'],
  [0x2067, 'right-to-left isolate'],
  [0x2068, 'first strong isolate'],
  [0x2069, 'end of isolate'],
  [0xfeff, 'byte order mark'],
]);

// Everything without a visible glyph, except line feed and tab. Lone surrogates match \p{Cs} in u mode.
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/u;

// Characters and the ASCII characters they look like.
const lookalikes: ReadonlyMap<string, string> = new Map(
  [
    ['аɑαａ', 'a'],
    ['ЬЪь', 'b'],
    ['сϲᴄｃ', 'c'],
    ['ԁɗｄ', 'd'],
    ['еҽｅ', 'e'],
    ['ƒｆ', 'f'],
    ['ɡցｇ', 'g'],
    ['һհｈ', 'h'],
    ['іɩιıｉ', 'i'],
    ['јϳｊ', 'j'],
    ['кκｋ', 'k'],
    ['ӏΙІⅼｌ', 'l'],
    ['ｍⅿ', 'm'],
    ['пոｎ', 'n'],
    ['оοօｏ', 'o'],
    ['рρｐ', 'p'],
    ['ԛզｑ', 'q'],
    ['гｒ', 'r'],
    ['ѕｓ', 's'],
    ['ｔτ', 't'],
    ['υսｕ', 'u'],
    ['νѵｖ', 'v'],
    ['ԝѡｗ', 'w'],
    ['хχⅹｘ', 'x'],
    ['уγүｙ', 'y'],
    ['ｚ', 'z'],
    ['АΑＡ', 'A'],
    ['ВΒＢ', 'B'],
    ['СϹＣ', 'C'],
    ['ＤⅮ', 'D'],
    ['ЕΕＥ', 'E'],
    ['Ｆ', 'F'],
    ['Ｇ', 'G'],
    ['НΗＨ', 'H'],
    ['Ｉ', 'I'],
    ['ЈＪ', 'J'],
    ['КΚＫ', 'K'],
    ['Ｌ', 'L'],
    ['МΜＭ', 'M'],
    ['ΝＮ', 'N'],
    ['ОΟＯ', 'O'],
    ['РΡＰ', 'P'],
    ['Ｑ', 'Q'],
    ['Ｒ', 'R'],
    ['ЅＳ', 'S'],
    ['ТΤＴ', 'T'],
    ['Ｕ', 'U'],
    ['Ｖ', 'V'],
    ['Ｗ', 'W'],
    ['ХΧＸ', 'X'],
    ['УΥＹ', 'Y'],
    ['ΖＺ', 'Z'],
    ['⁄∕⧸／', '/'],
    ['∖⧵＼', '\\'],
    ['：꞉∶', ':'],
    ['．․', '.'],
    ['－−‐‑‒⁃', '-'],
    ['；\u037e', ';'],
    ['｜∣', '|'],
    ['＆', '&'],
    ['＄', '$'],
    ['＞', '>'],
    ['＜', '<'],
    ['＝', '='],
    ['＠', '@'],
    ['～∼', '~'],
    ['＊∗', '*'],
    ['｀', '`'],
    ['＂', '"'],
    ['＇', "'"],
    ['！ǃ', '!'],
    ['＃', '#'],
  ].flatMap(([from = '', to = '']) => [...from].map((char): [string, string] => [char, to])),
);

const mark = /\p{M}/u;
/** No language puts more on one letter. A pile of them covers the lines around it. */
const marksMax = 4;

const ordinary = /^[\n\t\x20-\x7e]*$/;
const otherLetter = /[\p{L}]/u;
const asciiLetter = /[A-Za-z]/;
const pictographic = /\p{Extended_Pictographic}/u;
const styledLatin = /[\u{1d400}-\u{1d7ff}\u{1f130}-\u{1f189}]/u;
const tokens = /[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+/gu;

/** Splits a text for display. Emoji sequences stay whole; ordinary words of other scripts are not marked. */
export function revealSegments(text: string): RevealSegment[] {
  if (isOrdinary(text)) return text === '' ? [] : [plain(text)];
  const chars = [...text];
  const suspect = suspectChars(text);
  let marks = 0;
  const segments = chars.map((char, index) => {
    marks = mark.test(char) ? marks + 1 : 0;
    if (char === '\n' || char === '\t') return plain(char);
    if (hidden.test(char)) return isInsideEmoji(char, chars[index - 1] ?? '', chars[index + 1] ?? '') ? plain(char) : escapeHidden(char);
    if (marks > marksMax) return escapeHidden(char, 'combining mark');
    if (styledLatin.test(char)) return lookalike(char, char.normalize('NFKC'));
    return maybeLookalike(char, suspect[index] ?? false);
  });
  return mergePlain(segments);
}

/** True if nothing in the text can be marked, which is decided quickly and true of most texts. */
export function isOrdinary(text: string): boolean {
  return ordinary.test(text);
}

/** For each character, whether its word is suspect. */
function suspectChars(text: string): boolean[] {
  const hasForeignWords = hasOrdinaryForeignLetters(text);
  const suspect: boolean[] = [];
  for (const [token] of text.matchAll(tokens)) {
    const isSuspect = isSuspectWord(token, hasForeignWords);
    for (const _ of token) suspect.push(isSuspect);
  }
  return suspect;
}

function maybeLookalike(char: string, isWordSuspect: boolean): RevealSegment {
  const ascii = lookalikes.get(char);
  if (ascii === undefined) return plain(char);
  // Punctuation is never part of a foreign word; letters are judged by their word.
  return isWordSuspect || !otherLetter.test(char) ? lookalike(char, ascii) : plain(char);
}

/** True if a word mixes ASCII with look-alikes, or consists only of look-alikes and no ordinary foreign text surrounds it. */
function isSuspectWord(token: string, hasForeignWords: boolean): boolean {
  const letters = [...token].filter((char) => otherLetter.test(char));
  const foreign = letters.filter((char) => !asciiLetter.test(char));
  if (!foreign.some((char) => lookalikes.has(char))) return false;
  if (foreign.length < letters.length) return true;
  return !hasForeignWords && foreign.every((char) => lookalikes.has(char));
}

function hasOrdinaryForeignLetters(text: string): boolean {
  for (const char of text) {
    if (char > '\u036f' && otherLetter.test(char) && !lookalikes.has(char) && !styledLatin.test(char)) return true;
  }
  return false;
}

function isInsideEmoji(char: string, previous: string, next: string): boolean {
  if (char === '\ufe0f') return pictographic.test(previous);
  return char === '\u200d' && (pictographic.test(previous) || previous === '\ufe0f') && pictographic.test(next);
}

const plain = (text: string): RevealSegment => ({ text, kind: 'plain', note: '' });

function codeOf(char: string): string {
  return 'U+' + (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

function escapeHidden(char: string, kind = 'invisible character'): RevealSegment {
  const code = char.codePointAt(0) ?? 0;
  const name = hiddenNames.get(code) ?? (code >= 0xe0000 && code <= 0xe007f ? 'tag character' : kind);
  return { text: `‹${codeOf(char)}›`, kind: 'hidden', note: `${codeOf(char)} ${name}` };
}

function lookalike(char: string, ascii: string): RevealSegment {
  return { text: `${char}‹${codeOf(char)}›`, kind: 'lookalike', note: `${codeOf(char)} looks like ${ascii} and is not` };
}

function mergePlain(segments: readonly RevealSegment[]): RevealSegment[] {
  const merged: RevealSegment[] = [];
  let run = '';
  for (const segment of segments) {
    if (segment.kind === 'plain') {
      run += segment.text;
      continue;
    }
    if (run !== '') merged.push(plain(run));
    run = '';
    merged.push(segment);
  }
  if (run !== '') merged.push(plain(run));
  return merged;
}
