// Pins: what is written to disk or said between programs, as literals. A change of form must be seen by whoever makes it.
//
// An event is red: its form is in logs that exist. Where only something was added that may be left out, logs of before still read: add a
// sample that has it (samples/TYPE.v1.WHAT.json) and update the hash. Otherwise raise `v` of the event in the session log, add an upcaster
// that reads the old form, add a sample of the new one beside the old, and only then the new hash here.
// An operation or a shared form is red: doors, scripts and other programs use it. Adding what may be left out is fine: update the hash.
// Anything else breaks them: add a new operation instead.

import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { canonicalJson } from '../../core/base/json.ts';
import { configSchema } from '../../core/contracts/config.ts';
import { errorBodySchema, errorCodes } from '../../core/contracts/errors.ts';
import { eventBodySchemas, eventEnvelopeSchema, eventTypes } from '../../core/contracts/events.ts';
import { requestedCallSchema, usageSchema } from '../../core/contracts/llm.ts';
import { opTable } from '../../core/contracts/ops.ts';
import {
  approvalSchema,
  grantMatchSchema,
  grantSchema,
  grantScopeSchema,
  panicStatusSchema,
  policyDecisionSchema,
} from '../../core/contracts/policy.ts';
import { artifactRefSchema, callFactsSchema, toolListingSchema, toolRunResultSchema } from '../../core/contracts/tools.ts';
import { createOps, type OpsDeps } from '../../core/doors/ops/ops.ts';
import { ruleIds } from '../../core/guard/policy/policy.ts';

const root = join(import.meta.dirname, '../..');
const samples = join(import.meta.dirname, 'samples');

/** A schema that JSON Schema cannot express throws: it could not be checked by anybody else either. */
function fingerprint(schema: z.ZodType, io: 'input' | 'output' = 'output'): string {
  return hash('sha256', canonicalJson(z.toJSONSchema(schema, { io, unrepresentable: 'throw' })), 'hex').slice(0, 16);
}

const eventPins: Readonly<Record<string, string>> = {
  'session.created': '83ad79b36888025b',
  'session.renamed': '80893bb6883805f7',
  'session.archived': 'dd8ac300ccedad85',
  'session.pinned': '96a9266a2f7dfafb',
  'session.seen': 'bff3715996cd758b',
  'session.configured': '4ca6c947b0b7c7d3',
  'session.deleted': '37c28e4f6f5a76ea',
  'user.message': '974b408c61db7685',
  'assistant.message': '89bea4866e3834b0',
  'turn.started': '3346912db1b1efec',
  'turn.superseded': '7de61ccd74dcd5ec',
  'turn.steered': '838acb9186a3368f',
  'turn.cancel_requested': 'bdba04390e01580a',
  'turn.waiting': 'f2f6a1c3691aa423',
  'turn.resumed': '35726bcd177f5528',
  'turn.finished': '90284adb23579eaf',
  'brain.decided': '4723e408e381b2a2',
  'plan.drafted': '2696c9a26d2b2921',
  'observation.recorded': '73561d356ca8295f',
  'verification.finished': '701aa0ef1f8615ef',
  'reflection.recorded': '340f24a1f781636c',
  'pack.built': '4c72905a79f010bc',
  'model.requested': '4d84a3471d9df7a3',
  'model.retried': '30338517481a96b7',
  'model.finished': '80d697e9f82be0b1',
  'model.failed': 'd19aa108cefb3e2f',
  'budget.exceeded': '95b3fd9f1b722e8e',
  'budget.extended': 'e0de3205fc84ef4a',
  'budget.unpriced': '211f41d82396a91f',
  'policy.decided': 'b56707e3e667de0d',
  'tool.rejected': 'af728be044b1837b',
  'approval.requested': '37ab236864d4c2e4',
  'approval.decided': '0a05eac1e2704fbb',
  'grant.created': 'e8b06b936e13b8ee',
  'grant.spent': '48e8213d9ccd8426',
  'grant.revoked': 'a6075c5b62352a6f',
  'tool.requested': 'a717a8dad3f36a84',
  'tool.spawned': 'be14c12d19e1c44b',
  'tool.finished': '8f15532351d5e694',
  'taint.marked': 'fdb75f24098102bb',
  'tool.outcome_unknown': '85c445047f0baf2a',
  'tool.outcome_settled': 'f615932c54be6aa4',
  'checkpoint.taken': 'a7441d3b74416433',
  'checkpoint.closed': 'e822355fb0baaf8b',
  'checkpoint.restored': 'ccba62752067acdf',
  'panic.engaged': 'b0a2ed2d808fe8d9',
  'panic.measured': '64e68344d1bef541',
  'panic.released': 'e4273445b9469796',
  'instance.started': '820a49a1f40e89e2',
  'config.changed': '195a3a39061bb409',
};

/** Of each operation: its parameters as they are given, and its result. */
const opPins: Readonly<Record<string, string>> = {
  'message.send': 'e921c2e838c2490b ff37c2ac9859c997',
  'turn.wait': 'ef41152c5ae4de98 3f5ad08601d015fc',
  'turn.cancel': '5b2a285a9f432c76 20ca92aff9f65f72',
  'turn.steer': 'aabcf9468ed26f64 b39e39c192cf45da',
  'turn.get': '5b2a285a9f432c76 94f963819e6f5e47',
  'turn.retry': '7d22a5dfafb12b09 ff37c2ac9859c997',
  'turn.branch': 'a675a1f366a09cde ff37c2ac9859c997',
  'turn.continue': '5b2a285a9f432c76 ff37c2ac9859c997',
  'pack.get': 'a4adfd1a773e83b5 aee67070569833b4',
  'tool.run': '40945fa1d8402b85 98d1e3a29ea2807f',
  'tool.list': '71fc596a20f27da3 cc8f96fb4791ca8b',
  'approval.list': '7441eeb952b0dc92 f7e7f7959abe2888',
  'approval.decide': '5b85ef61c331f866 66876ca01b2aa483',
  'grant.list': '7441eeb952b0dc92 f615618043acaa17',
  'grant.revoke': 'd46abf0fc18cb803 57c047af9575e928',
  'grant.preview': '2887eb090557765e 6c467ea517313d42',
  'outcome.list': '71fc596a20f27da3 144bf072f7fcd5fb',
  'outcome.settle': 'd2803bdf4689c1d6 1c3338c33a4f4e69',
  'panic.engage': 'd9cfa57d4d77e292 ddfd13924e78170d',
  'panic.release': '71fc596a20f27da3 ddfd13924e78170d',
  'panic.status': '71fc596a20f27da3 ddfd13924e78170d',
  'policy.explain': '09cfa13193fa8ff7 e88bd1a11ae8a80e',
  'sandbox.explain': '28b6ed4efb49bef8 7310e20fac74316d',
  'safety.url': 'f9f6d09b415062dd 45b3e17244ac5192',
  'safety.redact': '30a51beb7b49a603 63a57bbe020ddb70',
  'session.list': '08091612d57337f9 332374fe09b5261b',
  'session.get': '399013a11bd83515 a485d67d151ef9d0',
  'session.create': 'e82a843da38bdc24 6fee939cc95eba25',
  'session.rename': '7aba13a5fdd6a109 6fee939cc95eba25',
  'session.pin': 'c51f8c1c44dbc50c 6fee939cc95eba25',
  'session.seen': '981cc397f9601c99 6fee939cc95eba25',
  'session.configure': 'c504a9307106fcfe 6fee939cc95eba25',
  'session.search': '946db95ab90bf32a 327f878678384a40',
  'session.fork': '1f7af97afc1d4984 6fee939cc95eba25',
  'session.export': '11efff579bbcda09 89bea4866e3834b0',
  'session.archive': 'bdbad8f627b1d8de 6fee939cc95eba25',
  'session.delete': '5e9b832ccb39a2a5 b144b747aac9bd0a',
  'command.list': '71fc596a20f27da3 9701522dcc9a66c4',
  'command.complete': '4f99be8aaa1e41a4 697ddafc404ab504',
  'command.run': '0a8c8385bc460823 db0c616dc0cf8d1f',
  'audit.verify': '71fc596a20f27da3 c0ebc8f2512e6975',
  'replay.run': '5b2a285a9f432c76 c1460a8cb3c08cc3',
  'health.check': '71fc596a20f27da3 42872e6e35ff65d6',
  'usage.get': 'a3ad1f6203963d59 1040ebb972d2a25a',
  'budget.get': 'ecb5ef2490e2cf0a 6dd7e3d7d4334ae2',
  'budget.allow': 'f21f06567506c205 6dd7e3d7d4334ae2',
  'config.get': '71fc596a20f27da3 a5c734522a8a33a9',
  'config.set': '6f0c06fb26ffc9ee 562bd898a75fc5dc',
  'config.schema': '71fc596a20f27da3 a13d4d2dab848456',
  'model.list': '71fc596a20f27da3 122ea11f1947cd04',
  'model.test': '42fb303277d3c257 f943ae84d771e42b',
  'model.presets': '71fc596a20f27da3 b852408c6acac689',
  'secret.set': 'dff323245cf626d4 be67607543b7a18a',
  'secret.list': '71fc596a20f27da3 ae28a9b08dd17db7',
  'secret.delete': '1a182cb9d48c2904 952d63f7a12b75fa',
  'secret.status': '71fc596a20f27da3 6be4b09ee4819a0b',
  'secret.unlock': 'c0a4b538f78c3fc4 6be4b09ee4819a0b',
  'artifact.list': 'b644621e03277952 955a0e3aa8f0279a',
  'artifact.get': 'a3a7f0e5034bcb75 8bdb094e748b53ca',
  'checkpoint.list': '7ee8a814b726d588 7aa95a965625d1e1',
  'checkpoint.preview': '21713ff390dc5b6e ec75894696a07e48',
  'checkpoint.restore': '78e44d96a3046b58 04246a56646f10f1',
  'checkpoint.diff': 'ec93a649eafdf9ad 436e67d6377f188d',
  'approval.diff': 'acee2a3880a698fa 436e67d6377f188d',
  'backup.create': '71fc596a20f27da3 eb2057b51fa1ff46',
  'backup.list': '71fc596a20f27da3 fae727c3ebd08731',
  'backup.verify': '8c42577910880455 d9109f4e71cbcab2',
};

const shared = {
  configSchema,
  errorBodySchema,
  requestedCallSchema,
  usageSchema,
  approvalSchema,
  grantMatchSchema,
  grantSchema,
  grantScopeSchema,
  panicStatusSchema,
  policyDecisionSchema,
  artifactRefSchema,
  callFactsSchema,
  toolListingSchema,
  toolRunResultSchema,
  eventEnvelopeSchema,
};
const sharedPins: Readonly<Record<keyof typeof shared, string>> = {
  configSchema: '4aa7be703ab678d3',
  errorBodySchema: 'bb011dec5da14bbf',
  requestedCallSchema: '792a211af16c7aba',
  usageSchema: '56c32c733e776149',
  approvalSchema: '66876ca01b2aa483',
  grantMatchSchema: '0e4e1975fc359e21',
  grantSchema: '57c047af9575e928',
  grantScopeSchema: '493b81c132a8dc05',
  panicStatusSchema: 'ddfd13924e78170d',
  policyDecisionSchema: 'd33205bed7f34708',
  artifactRefSchema: '2ec991439ca17e61',
  callFactsSchema: 'f430afb9bc169bec',
  toolListingSchema: 'b9029b7e04d64ef9',
  toolRunResultSchema: '5dc73ccb85187a46',
  eventEnvelopeSchema: '269dc1b035737cda',
};

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
  'write.workspace',
  'review.denied',
  'review.asked',
];

test.each(eventTypes)('the form of %s is what is on disk', (type) => {
  expect(fingerprint(eventBodySchemas[type])).toBe(eventPins[type]);
});

test('the families of events are these', () => {
  expect(eventTypes).toEqual(Object.keys(eventPins));
});

test('the operations and their forms are these', () => {
  const now = Object.entries(opTable).map(([name, op]) => [name, `${fingerprint(op.params, 'input')} ${fingerprint(op.result)}`]);
  expect(Object.fromEntries(now)).toEqual(opPins);
});

test('every operation has a handler, and no handler is without an operation', () => {
  // Handlers touch what they depend on when they are called, not when they are made.
  expect(Object.keys(createOps({} as OpsDeps)).sort()).toEqual(Object.keys(opTable).sort());
});

test('the forms that events and operations share are these', () => {
  const now = Object.entries(shared).map(([name, schema]) => [name, fingerprint(schema, name === 'configSchema' ? 'input' : 'output')]);
  expect(Object.fromEntries(now)).toEqual(sharedPins);
});

test('the codes of errors and the ids of rules are these', () => {
  expect(errorCodes).toEqual(errorCodePins);
  expect(ruleIds).toEqual(ruleIdPins);
});

test('every code of an error is in use', () => {
  const files = readdirSync(join(root, 'core'), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== join('contracts', 'errors.ts'));
  const text = sources.map((file) => readFileSync(join(root, 'core', file), 'utf8')).join('\n');
  expect(errorCodes.filter((code) => !text.includes(`'${code}'`))).toEqual([]);
});

test('there is a sample of every event, and nothing of it is lost in reading', () => {
  const files = readdirSync(samples);
  for (const type of eventTypes) expect(files).toContain(`${type}.v1.json`);
  for (const file of files) {
    const type = eventTypes.find((name) => file.startsWith(`${name}.v1.`));
    const sample: unknown = JSON.parse(readFileSync(join(samples, file), 'utf8'));
    expect(type === undefined ? `no event for ${file}` : eventBodySchemas[type].parse(sample)).toEqual(sample);
  }
});
