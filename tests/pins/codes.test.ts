// Pins the error codes and rule ids, on which programs and people's own rules rely. None is ever removed or reused.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorCodes } from '../../core/contracts/errors.ts';
import { ruleIds } from '../../core/guard/policy/policy.ts';

const root = join(import.meta.dirname, '../..');

const errorCodePins = [
  'invalid_params',
  'invalid_config',
  'unknown_op',
  'not_found',
  'conflict',
  'unknown_tool',
  'invalid_arguments',
  'arguments_too_large',
  'tool_failed',
  'address_refused',
  'fetch_failed',
  'denied',
  'approval_not_pending',
  'panic_engaged',
  'over_budget',
  'sandbox_unavailable',
  'no_model',
  'model_unknown',
  'model_auth',
  'model_rate_limited',
  'model_quota',
  'model_unavailable',
  'model_timeout',
  'model_context_overflow',
  'model_bad_reply',
  'model_cut_off',
  'model_rejected',
  'cancelled',
  'loop_detected',
  'step_limit',
  'time_limit',
  'queue_full',
  'turn_not_running',
  'shutting_down',
  'store_corrupt',
  'store_full',
  'store_readonly',
  'store_locked',
  'store_too_new',
  'store_failed',
  'artifact_missing',
  'secret_missing',
  'keychain_unavailable',
  'vault_locked',
  'vault_damaged',
  'unauthorized',
  'forbidden',
  'payload_too_large',
  'rate_limited',
  'port_in_use',
  'internal',
];

const ruleIdPins = [
  'panic.engaged',
  'tool.denied',
  'address.refused',
  'path.own-data',
  'path.protected',
  'read.outside-workspace',
  'read.workspace',
  'grant.once',
  'grant.minutes',
  'grant.session',
  'grant.always',
  'ask.workspace',
  'ask.write-outside-workspace',
  'ask.write',
  'ask.exec',
  'ask.network',
  'ask.message',
  'ask.spend',
  'ask.credential',
  'ask.hardware',
  'ask.destructive',
  'rule.deny',
  'rule.ask',
  'rule.allow',
  'mode.locked-down',
  'taint.three-way',
  'taint.unseen',
  'rate.limit',
  'command.reads',
  'command.allowed',
  'command.changed',
  'domain.allowed',
  'skill.beyond',
  'write.workspace',
  'message.same-chat',
  'review.denied',
  'review.asked',
  'hook.denied',
  'hook.asked',
  'ask.plan',
  'ask.outsider',
  'bounds.plan',
  'bounds.tool',
  'bounds.class',
  'bounds.folder',
  'bounds.host',
];

test('the error codes and rule ids are these', () => {
  expect(errorCodes).toEqual(errorCodePins);
  expect(ruleIds).toEqual(ruleIdPins);
});

test('every error code is in use', () => {
  const files = readdirSync(join(root, 'core'), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== join('contracts', 'errors.ts'));
  const text = sources.map((file) => readFileSync(join(root, 'core', file), 'utf8')).join('\n');
  expect(errorCodes.filter((code) => !text.includes(`'${code}'`))).toEqual([]);
});
