// Which characters a plain line may hold, and where. Pure. What cannot be seen, or looks like something else, is never plain.

/** Letters, marks, digits, punctuation and symbols of any script; nothing that steers, hides or pads. */
const visible = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u;
// Default ignorables are drawn as nothing; the Braille blank and the Hangul fillers are drawn as a space.
const unseen = /^[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Variation_Selector}\u2800\ufffc]$/u;

/** Why a character inside quotes makes the line unclear, or null. */
export function quotedProblem(character: string): string | null {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f) return null;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 'it contains a control character';
  if (visible.test(character) && !unseen.test(character)) return null;
  return 'it contains a character that cannot be seen';
}

const lookAlikes = /^[\uff01-\uff5e\u2024\u2010-\u2015\u2018-\u201f\u037e\u2215\u2216\u2223\u29f8\u2044]$/u;

/** Why a character outside quotes makes the line unclear. For characters beyond printable ASCII. */
export function bareProblem(character: string): string {
  const hidden = quotedProblem(character);
  if (hidden !== null) return hidden;
  if (lookAlikes.test(character)) return 'it contains a character that only looks like one of the shell';
  return 'it contains a letter outside plain ASCII without quotes';
}
