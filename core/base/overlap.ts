// The overlap of two texts. Pure.

/** Returns the length of the longest end of `sent` that is a prefix of `text`, using the failure function of Knuth, Morris and Pratt. */
export function overlap(sent: string, text: string): number {
  const joined = `${text}\0${sent.slice(-text.length)}`;
  const lengths = [0];
  for (let at = 1; at < joined.length; at++) {
    let length = lengths[at - 1] ?? 0;
    while (length > 0 && joined[at] !== joined[length]) length = lengths[length - 1] ?? 0;
    lengths.push(joined[at] === joined[length] ? length + 1 : 0);
  }
  return lengths.at(-1) ?? 0;
}
