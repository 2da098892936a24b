// The sentence that goes with a secret too short to be kept out of sight, for every place that keeps one.

export function shortSecretWords(name: string): string {
  return `${name} has fewer than 8 characters that tell it from ordinary text. It works, but it is not removed from logs, messages and prompts.`;
}
