// A cheap guess at token counts, for packing and for servers that report no usage.
// Must not be used where money is counted and the server did report: its figures win.

const ASCII_CHARS_PER_TOKEN = 4;
/** Latin with accents, Greek, Cyrillic, Arabic, Hebrew…: byte-pair vocabularies split these about every second letter. */
const ALPHABETIC_CHARS_PER_TOKEN = 2.2;
/** Han, kana, hangul. */
const CJK_CHARS_PER_TOKEN = 1.5;
/** One half of a surrogate pair: an emoji or rare sign is two to three tokens. */
const SURROGATE_HALVES_PER_TOKEN = 0.9;

/** Tokens of `text`, rounded up; 0 for the empty string. Within about 20 % of common vocabularies on prose. */
export function estimateTokens(text: string): number {
  let alphabetic = 0;
  let cjk = 0;
  let surrogates = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit >= 0xd800 && unit <= 0xdfff) surrogates += 1;
    else if (isCjk(unit)) cjk += 1;
    else alphabetic += 1;
  }
  const ascii = text.length - alphabetic - cjk - surrogates;
  return Math.ceil(
    ascii / ASCII_CHARS_PER_TOKEN +
      alphabetic / ALPHABETIC_CHARS_PER_TOKEN +
      cjk / CJK_CHARS_PER_TOKEN +
      surrogates / SURROGATE_HALVES_PER_TOKEN,
  );
}

/** Tokens of a serialised request of `sizeBytes`; keys and quotes included, so a little on the high side. */
export function estimateTokensOfBytes(sizeBytes: number): number {
  return Math.ceil(sizeBytes / ASCII_CHARS_PER_TOKEN);
}

function isCjk(unit: number): boolean {
  return (unit >= 0x2e80 && unit <= 0x9fff) || (unit >= 0xac00 && unit <= 0xd7af) || (unit >= 0xf900 && unit <= 0xfaff) || unit >= 0xff00;
}
