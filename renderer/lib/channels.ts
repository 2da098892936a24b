// The doors a turn can come through, in words. Pure.

export function nameChannel(channel: string, words: Readonly<Record<string, string>>): string {
  return words[channel] ?? channel;
}
