// Converts call ids to a form that a server accepts. An accepted id is kept; any other is replaced by a short name derived from it, which
// is the same in every request.

import { hash } from 'node:crypto';

/** plain: letters, digits, _ and -. nine: exactly nine letters or digits. */
export type CallIdForm = 'any' | 'plain' | 'nine';

const taken: Readonly<Record<CallIdForm, RegExp>> = {
  any: /^[^\s\p{C}]{1,40}$/u,
  plain: /^[A-Za-z0-9_-]{1,64}$/,
  nine: /^[A-Za-z0-9]{9}$/,
};

export function wireCallId(id: string, form: CallIdForm): string {
  return taken[form].test(id)
    ? id
    : BigInt(`0x1${hash('sha256', id, 'hex')}`)
        .toString(36)
        .slice(-9);
}
