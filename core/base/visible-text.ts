// Makes text safe to show in a terminal: disarms control sequences and, for approvals, shows every character that could hide or deceive.
// Changes only what is shown, never what runs.

const controls = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;
const deceptive = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;
const word = /[\p{L}\p{M}\p{N}_.-]+/gu;
const latin = /\p{Script=Latin}/u;
const lookAlike = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]|[\uFF01-\uFF5E]/gu;

/** For text in a terminal: keeps lines and tabs, and replaces characters that could move the cursor or change the reading order. */
export function safeForTerminal(text: string): string {
  return text.replaceAll(controls, (char) => (char === '\n' || char === '\t' ? char : escapeOf(char)));
}

/** For approvals: shows nothing invisible, and writes letters of other alphabets inside a Latin word as code points. */
export function revealed(text: string): string {
  const plain = text.replaceAll(deceptive, (char) => (char === '\n' ? char : escapeOf(char)));
  return plain.replaceAll(word, (part) => (latin.test(part) ? part.replaceAll(lookAlike, escapeOf) : part));
}

function escapeOf(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}
