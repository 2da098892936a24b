// The port that a URL leads to.

/** The port of its scheme if the URL names none. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' || protocol === 'wss:' ? 443 : 80) : Number(port);
}
