// The text that a server signs to prove to a window that it knows the window's token. It contains the server's own address, so that a
// program at another address cannot pass the signature on.

/** 32 random bytes in hex. */
export const nonceForm = /^[0-9a-f]{64}$/;

/** `origin` is the server's own address, and `nonce` what the window chose. Signed with HMAC-SHA-256; the key is the SHA-256 of the token. */
export function proofText(origin: string, nonce: string): string {
  return `trayclaw ${origin} ${nonce}`;
}
