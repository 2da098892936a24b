// Recognizes host names of URLs that always mean this computer.

/** `hostname` as URL gives it: `localhost`, an address in 127.0.0.0/8, or `[::1]`. A name such as 127.example.org is somewhere else. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
