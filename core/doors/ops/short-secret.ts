// The warning about a secret that is too short to be redacted, for every module that stores a secret.

export function shortSecretWords(name: string): string {
  return `${name} has fewer than 8 characters that tell it from ordinary text. It works, but it is not removed from logs, messages and prompts.`;
}
