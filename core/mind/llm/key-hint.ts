// Describes a refused key: names the place it came from, so that the person changes the right one, or the vendor it belongs to.

import { AppError } from '../../contracts/errors.ts';

/** The reference of a key that was passed for a trial and is not stored. */
export const handedOverKey = 'keychain:handed-over';

/** `keyRef` is the reference of the key that was sent; null if none was. Returns any other error unchanged. */
export function withKeyHint(error: AppError, keyRef: string | null): AppError {
  if (error.code !== 'model_auth' || error.data['hint'] !== undefined) return error;
  const { code, message, data, isRetryable } = error;
  return new AppError(code, message, { data, hint: hintFor(keyRef), isRetryable, cause: error });
}

function hintFor(ref: string | null): string {
  if (ref === null) return 'It needs a key, and none is set. Add it in Settings under Models, or run: trayclaw setup';
  if (ref === handedOverKey) return 'Paste the key again, whole and without quotes; nothing was stored.';
  const name = ref.slice(ref.indexOf(':') + 1);
  if (ref.startsWith('env:')) return `Correct ${name} in the environment TrayClaw is started from, then start it again.`;
  return ref.startsWith('file:')
    ? `Put the right key into ${name}.`
    : `Store the right key in Settings under Secrets, or run: trayclaw secret set ${name}`;
}

const wrappedKey = /^(?:(?:export\s)?[A-Z0-9_]{1,80}_(?:KEY|TOKEN)\s?=\s?|Bearer\s)?(["'`]?)([^\s"'`]+)\1;?$/;

/** The key in what a person pasted: without quotes, `Bearer` and the name of a variable. */
export function bareKey(pasted: string): string {
  return wrappedKey.exec(pasted.trim())?.[2] ?? pasted;
}

/** How the vendors' keys begin, with the host that takes them. A longer beginning is before the shorter one. */
const beginnings: readonly (readonly [beginning: string, vendor: string, host: string])[] = [
  ['sk-ant-', 'Anthropic', 'api.anthropic.com'],
  ['sk-or-', 'OpenRouter', 'openrouter.ai'],
  ['sk-proj-', 'OpenAI', 'api.openai.com'],
  ['gsk_', 'Groq', 'api.groq.com'],
  ['xai-', 'xAI', 'api.x.ai'],
  ['AIza', 'Google Gemini', 'generativelanguage.googleapis.com'],
];

/** The hint for a refused key that looks like one of another vendor; null for any other. `baseUrl` is undefined for the vendor's own. */
export function otherVendorHint(key: string, { kind, baseUrl }: { readonly kind: string; readonly baseUrl?: string }): string | null {
  const [, vendor, host] = beginnings.find(([beginning]) => key.startsWith(beginning)) ?? [];
  if (vendor === undefined) return null;
  const asked = baseUrl === undefined ? `api.${kind}.com` : new URL(baseUrl).hostname;
  return asked === host ? null : `It looks like a key of ${vendor}: choose ${vendor} as the provider, or paste a key of this one.`;
}
