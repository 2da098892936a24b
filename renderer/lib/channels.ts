// The names of the doors a turn can come from, and of the actor of an event. Pure.

export function nameChannel(channel: string, words: Readonly<Record<string, string>>): string {
  return words[channel] ?? channel;
}

/** `by` of an event: the name of a door, a person of a channel, or a grant. */
export function nameActor(by: string, words: Readonly<Record<string, string>>): string {
  const kind = by.startsWith('telegram:') ? 'telegram' : by.startsWith('the grant ') ? 'grant' : by;
  return Object.hasOwn(words, kind) ? (words[kind] ?? by) : by;
}
