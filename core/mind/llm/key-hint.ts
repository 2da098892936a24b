// The hint for a refused key: names the place the key came from, so that the right one is changed.

import type { ProviderConfig } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';

/** The reference of a key that was passed for a trial and is not stored. */
export const handedOverKey = 'keychain:handed-over';

/** Returns any other error unchanged. */
export function withKeyHint(error: AppError, config: ProviderConfig | null): AppError {
  if (error.code !== 'model_auth' || error.data['hint'] !== undefined) return error;
  const ref = config !== null && 'apiKey' in config ? config.apiKey : undefined;
  const { code, message, data, isRetryable } = error;
  return new AppError(code, message, { data: { ...data, hint: hintFor(ref) }, isRetryable, cause: error });
}

function hintFor(ref: string | undefined): string {
  if (ref === undefined) return 'It wants a key, and none is set: trayclaw setup';
  if (ref === handedOverKey) return 'Paste the key again, whole and without quotes; nothing was stored.';
  const name = ref.slice(ref.indexOf(':') + 1);
  if (ref.startsWith('env:')) return `Correct ${name} in the environment TrayClaw is started from, then start it again.`;
  return ref.startsWith('file:') ? `Put the right key into ${name}.` : `Store the right key: trayclaw secret set ${name}`;
}
