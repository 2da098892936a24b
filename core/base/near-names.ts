// Suggests known names that resemble a mistyped one. Pure; bounded by the length of the names.

const NAME_CHARS_MAX = 64;

/** Up to `limit` names of `known` that resemble `name`, nearest first. */
export function nearNames(name: string, known: Iterable<string>, limit = 3): string[] {
  const wanted = plain(name);
  if (wanted === '') return [];
  const scored: { name: string; distance: number }[] = [];
  for (const candidate of known) {
    const other = plain(candidate);
    const distance = other.includes(wanted) || wanted.includes(other) ? 1 : editDistance(wanted, other);
    const distanceMax = Math.min(Math.max(2, Math.floor(other.length / 3)), Math.floor(other.length / 2));
    if (distance <= distanceMax) scored.push({ name: candidate, distance });
  }
  scored.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return scored.slice(0, limit).map((entry) => entry.name);
}

/** Asks whether one of the names was meant; null if there are none. */
export function didYouMean(names: readonly string[]): string | null {
  return names.length === 0 ? null : `Did you mean ${names.join(' or ')}?`;
}

function plain(name: string): string {
  return name
    .slice(0, NAME_CHARS_MAX)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** The number of letters to add, remove or change to turn one word into another (Levenshtein distance). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [at, other] of [...to].entries()) {
      const change = (row[at] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(change, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
