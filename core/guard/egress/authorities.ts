// Trusts the certificate authorities of the operating system, once a certificate cannot be verified without them: a company that inspects
// encrypted traffic installs its own. Reading them takes a third of a second, so a machine that does not need them never does it.

import { isUnknownAuthority, networkCode } from '../../base/network-failure.ts';

/**
 * Attempts again, with these authorities, if the server's authority is unknown. Nothing was sent then, so that nothing is done twice. They
 * are trusted for the rest of the process, in addition to the others.
 */
export async function withSystemAuthorities<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (cause) {
    if (!isUnknownAuthority(networkCode(cause))) throw cause;
    await trustSystemAuthorities();
    return attempt();
  }
}

/** Node keeps both lists, so that a repetition costs a comparison. */
async function trustSystemAuthorities(): Promise<void> {
  const { getCACertificates, setDefaultCACertificates } = await import('node:tls');
  const trusted = new Set(getCACertificates('default'));
  const missing = getCACertificates('system').filter((one) => !trusted.has(one));
  if (missing.length > 0) setDefaultCACertificates([...trusted, ...missing]);
}
