// The hint for a refused key. Names the place the key came from, so that the person changes the right one.

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
