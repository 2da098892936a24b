// docs/reference/errors.md: every error code with its meaning, the next step, and how each door reports it.

import { AppError, errorCodes, type ErrorCode } from '../../core/contracts/errors.ts';
import { exitCodeOfError } from '../../core/doors/cli/exit-code.ts';
import { statusOf } from '../../core/contracts/error-status.ts';
import { code, page, table } from './markdown.ts';

const meanings: Readonly<Record<ErrorCode, string>> = {
  invalid_params: 'The request has a wrong or missing parameter.',
  invalid_config: 'A setting is unknown or has a wrong value.',
  unknown_op: 'There is no such operation.',
  not_found: 'What the request names does not exist.',
  conflict: 'The request does not fit the current state.',
  unknown_tool: 'There is no such tool.',
  invalid_arguments: "The arguments do not match the tool's schema.",
  arguments_too_large: 'The arguments are larger than a call may be.',
  tool_failed: 'The tool ran and failed.',
  address_refused: 'The address is not public, or a list refuses it.',
  fetch_failed: 'A web request failed.',
  denied: 'You, a rule or a hook denied the call.',
  approval_not_pending: 'The approval has already been answered.',
  panic_engaged: 'The panic stop is engaged; nothing runs.',
  over_budget: 'A budget is used up, or the next request would exceed it.',
  sandbox_unavailable: 'The command must run in a sandbox and there is none.',
  no_model: 'No model is configured or found.',
  model_unknown: 'The provider does not know the model.',
  model_auth: 'The provider refuses the key.',
  model_rate_limited: 'The provider limits the rate of requests.',
  model_quota: 'The account at the provider has no credit left.',
  model_unavailable: 'The model server does not answer.',
  model_timeout: 'The model took longer than its timeouts allow.',
  model_context_overflow: 'The conversation does not fit the window of the model.',
  model_bad_reply: "The model server's answer cannot be read, or does not follow the schema that was asked for.",
  model_cut_off: 'The answer broke off.',
  model_rejected: 'The provider refuses the request.',
  cancelled: 'The turn was cancelled.',
  loop_detected: 'The turn repeated the same call with the same result.',
  step_limit: 'The turn reached its limit of model calls.',
  time_limit: 'The turn reached its time limit.',
  queue_full: 'Too many messages or calls are already waiting.',
  turn_not_running: 'The turn has ended, or has not started yet.',
  shutting_down: 'TrayClaw is closing.',
  store_corrupt: 'The database is damaged.',
  store_full: 'The disk is full.',
  store_readonly: 'The data folder cannot be written.',
  store_locked: 'Another process uses the data folder.',
  store_too_new: 'A newer version wrote the data folder.',
  store_failed: 'The database failed for another reason.',
  artifact_missing: 'The stored content is missing on the disk.',
  secret_missing: 'A reference names a secret that does not exist.',
  keychain_unavailable: 'The keychain of the computer cannot be used.',
  vault_locked: 'The encrypted vault is locked.',
  vault_damaged: 'The encrypted vault cannot be read.',
  unauthorized: 'The access token is missing or wrong.',
  forbidden: 'The caller may not do this.',
  payload_too_large: 'The request body is too large.',
  rate_limited: 'The caller sends too many requests.',
  port_in_use: 'Another program uses the port.',
  internal: 'A fault in TrayClaw. The program log holds the details.',
};

export function errorPage(): string {
  const rows = errorCodes.map((name) => [
    code(name),
    meanings[name],
    new AppError(name, '').hint ?? '',
    String(statusOf(name)),
    String(exitCodeOfError(name)),
  ]);
  const body = [
    'A failure is `{"code","message","hint"}`: the message says what happened in this case, the hint what to do. A more exact hint may take',
    'the place of the one in the table. Branch on the code, never on the message.',
    '',
    ...table(['code', 'means', 'what to do', 'HTTP', 'exit code'], rows),
  ];
  return page({ title: 'Error codes', source: 'the error codes (`core/contracts/errors.ts`)', body });
}
