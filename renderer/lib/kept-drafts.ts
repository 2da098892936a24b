// Typed but unsent texts, kept in the window's storage so that a reload or a restart does not lose them. Bounded: the newest stay.

const key = 'trayclaw.drafts';
const textsMax = 30;
const charsMax = 100_000;

type Store = Pick<Storage, 'getItem' | 'setItem'>;

export function readDrafts(store: Store): Record<string, string> {
  try {
    const kept: unknown = JSON.parse(store.getItem(key) ?? '{}');
    if (typeof kept !== 'object' || kept === null) return {};
    return Object.fromEntries(Object.entries(kept).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch {
    // Ignores drafts written by another version or edited by hand.
    return {};
  }
}

export function keepDrafts(store: Store, drafts: Readonly<Record<string, string>>): void {
  const texts = Object.entries(drafts).filter(([, text]) => text.trim() !== '' && text.length <= charsMax);
  try {
    store.setItem(key, JSON.stringify(Object.fromEntries(texts.slice(-textsMax))));
  } catch {
    // A full storage keeps what it has; the text is still in the field.
  }
}
