// Makes text safe to show in a terminal: disarms control sequences and, for approvals, shows every character that could hide or deceive.
// Changes only what is shown, never what runs.

const controls = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;
const deceptive = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;
const word = /[\p{L}\p{M}\p{N}_.-]+/gu;
const latin = /\p{Script=Latin}/u;
const lookAlike = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]|[\uFF01-\uFF5E]/gu;
/** Signs that are drawn as Latin letters: mathematical and circled letters, Roman numerals. */
const drawnAsLatin = /[\u2160-\u2188\u24B6-\u24E9\u{1D400}-\u{1D7FF}\u{1F130}-\u{1F189}]/gu;

/** For text in a terminal: keeps lines and tabs, and replaces characters that could move the cursor or change the reading order. */
export function safeForTerminal(text: string): string {
  return text.replaceAll(controls, (char) => (char === '\n' || char === '\t' ? char : escapeOf(char)));
}

/** For approvals: shows nothing invisible, and writes letters that pass for Latin ones as code points. */
export function revealed(text: string): string {
  const plain = text.replaceAll(deceptive, (char) => (char === '\n' ? char : escapeOf(char))).replaceAll(drawnAsLatin, escapeOf);
  return plain.replaceAll(word, (part) => (latin.test(part) ? part.replaceAll(lookAlike, escapeOf) : part));
}

function escapeOf(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}
