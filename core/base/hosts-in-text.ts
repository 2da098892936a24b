// Finds the hosts of the web addresses that a text names. Pure.

/** Hosts of documents and examples, to which no request is sent. */
const quiet = /^(?:www\.w3\.org|schemas?\..*|(?:.*\.)?example\.(?:com|org|net)|localhost|127\.0\.0\.1|\[::1\]|agentskills\.io)$/;

export function hostsInText(text: string): Set<string> {
  const found = new Set<string>();
  for (const [, host = ''] of text.matchAll(/\bhttps?:\/\/(?:[^\s/@"'`<>)]*@)?([\w.-]+|\[[0-9a-f:]+\])/gi)) {
    const name = host.toLowerCase().replace(/\.+$/, '');
    if (!quiet.test(name) && /[a-z0-9]/.test(name)) found.add(name);
  }
  return found;
}

/** A declared `*.example.com` covers every host below it. */
export function coversHost(declared: readonly string[], host: string): boolean {
  return declared.some((one) => one === host || one === '*' || (one.startsWith('*.') && host.endsWith(one.slice(1))));
}
