// Pins: the formats on disk and between programs, as literals, so that no change of a format goes unnoticed.
//
// An event is red: existing logs contain its format. If the change only adds an optional field, earlier logs still read: add a sample that
// has it (samples/TYPE.v1.WHAT.json) and update the hash. Otherwise raise `v` of the event in the session log, add an upcaster that reads
// the old format, add a sample of the new one next to the old, and only then the new hash here.
// An operation or a shared format is red: doors, scripts and other programs use it. An added operation or optional field is fine: write its
// hash (`TRAYCLAW_PINS=write npm test -- pins` for operations). Anything else breaks them: add a new operation instead.

import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { canonicalJson } from '../../core/base/json.ts';
import { configSchema } from '../../core/contracts/config.ts';
import { errorBodySchema } from '../../core/contracts/errors.ts';
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
import { createTrayClaw } from '../../core/compose.ts';
import { featureEventPins } from './feature-pins.ts';

const samples = join(import.meta.dirname, 'samples');

/** The hash of a schema. Throws if JSON Schema cannot express the schema, because then nothing else could validate it either. */
function fingerprint(schema: z.ZodType, io: 'input' | 'output' = 'output'): string {
  return hash('sha256', canonicalJson(z.toJSONSchema(schema, { io, unrepresentable: 'throw' })), 'hex').slice(0, 16);
}

const eventPins: Readonly<Record<string, string>> = {
  'session.created': 'cbce2bcc6ed5217e',
  'session.renamed': '80893bb6883805f7',
  'session.archived': 'dd8ac300ccedad85',
  'session.pinned': '96a9266a2f7dfafb',
  'session.seen': 'bff3715996cd758b',
  'session.configured': '78b8a07dbb8524e7',
  'session.deleted': '37c28e4f6f5a76ea',
  'user.message': 'b729d54061dd2f05',
  'assistant.message': '89bea4866e3834b0',
  'turn.started': '964a73eeb4af4cf3',
  'turn.superseded': '7de61ccd74dcd5ec',
  'turn.steered': '0ae5f8214340343b',
  'turn.cancel_requested': 'bdba04390e01580a',
  'turn.waiting': 'f2f6a1c3691aa423',
  'turn.resumed': '37fcc12bf208ceed',
  'turn.finished': '90284adb23579eaf',
  'brain.decided': '4723e408e381b2a2',
  'plan.drafted': '2696c9a26d2b2921',
  'observation.recorded': '73561d356ca8295f',
  'verification.finished': '701aa0ef1f8615ef',
  'reflection.recorded': '340f24a1f781636c',
  'pack.built': '9cbe8597b41c45b1',
  'model.requested': '7237e6209c2450ce',
  'model.retried': '30338517481a96b7',
  'model.finished': '7b1dd6e19b58cb87',
  'model.failed': 'ca30ee17874777a3',
  'budget.exceeded': 'ac3d0cfa045883c4',
  'budget.extended': 'e0de3205fc84ef4a',
  'budget.unpriced': '211f41d82396a91f',
  'policy.decided': '7ad92f56c4317f78',
  'tool.rejected': 'af728be044b1837b',
  'approval.requested': '242ff69470d5be68',
  'approval.decided': '3256171be48241af',
  'grant.created': 'b413cad670b97742',
  'grant.spent': '48e8213d9ccd8426',
  'grant.revoked': 'a6075c5b62352a6f',
  'tool.requested': 'a717a8dad3f36a84',
  'tool.spawned': 'be14c12d19e1c44b',
  'tool.finished': '8f15532351d5e694',
  'taint.marked': 'fdb75f24098102bb',
  'tool.outcome_unknown': '4805ca7eb8442d4d',
  'tool.outcome_settled': 'f615932c54be6aa4',
  'checkpoint.taken': 'a7441d3b74416433',
  'checkpoint.closed': 'e822355fb0baaf8b',
  'checkpoint.restored': 'ccba62752067acdf',
  'panic.engaged': 'b0a2ed2d808fe8d9',
  'panic.measured': '64e68344d1bef541',
  'panic.released': 'e4273445b9469796',
  'instance.started': '820a49a1f40e89e2',
  'log.gap_found': 'e82fef063e4b748f',
  'log.gap_accepted': 'e2cb4e8023f4ef7e',
  'config.changed': '195a3a39061bb409',
  'telegram.updates_taken': '49191fe0ae8d2343',
  'telegram.message_held': '501a58e9a9011f73',
  'telegram.message_passed': '7a903f3a221d4556',
  'telegram.pairing_offered': '499941fc38128cec',
  'telegram.pairing_claimed': '3d946ccce4cac6c8',
  'telegram.pairing_ended': 'ee53af1a318c2aa9',
  'telegram.paired': '0be155fdd67f3687',
  'telegram.revoked': 'c23951909c148d76',
  'telegram.paused': 'e4273445b9469796',
  'telegram.resumed': 'e4273445b9469796',
  'telegram.state_changed': 'a176ffb5b17a93d6',
  'telegram.asked': '4679abd457eaaddf',
  'telegram.preview_sent': 'b0216eb551893639',
  'telegram.question_closed': '3f35e3e5249760d5',
  'chat.bound': '80b804ac11c3df1c',
  'outbound.queued': '4a07e94307ba46dc',
  'outbound.sending': '6bcc4cfc2714e196',
  'outbound.part_sent': '33da1cd7bba32e27',
  'outbound.sent': '4cfd2586fcb95065',
  'outbound.failed': 'f182d0fb78a38fe0',
  'outbound.uncertain': '2f54a42af5b11cf7',
  'outbound.settled': '39cc19e807596b8c',
  'schedule.created': '5cb5e6f0a4138709',
  'schedule.changed': '592c961520f0c0c6',
  'schedule.removed': 'f47dbf6f4cb2e878',
  'schedule.fired': '4ec898d114687d1a',
  'schedule.rewound': '7fca83638680a1cb',
  'heartbeat.ended': '02953178b30a2384',
  'task.added': '28021a373bf741a7',
  'task.closed': 'b378d7074182d949',
  'signal.received': '41c6bc9c757d9d63',
  'signal.delivered': '585eb7cf8e5ab7d4',
  'dead_letter.captured': '0f2efca12136fc88',
  'dead_letter.retried': 'dc43f5abcdbe72f5',
  'dead_letter.left': '5b11d129da879c70',
  'dead_letter.settled': 'bf85dca9d4569216',
  'dead_letter.cleared': '44a8668187e9cc40',
  'hook.ran': '1653dad3d8fbf145',
  'recovery.finished': 'f326bd9009773a4a',
  'a2a.called': '653ad6ab71de14f8',
  'a2a.started': '335b4ece75c0ca84',
  'a2a.retried': '6d6274f84be867fc',
  'a2a.cancel_requested': '67a84c7bcb7cbf92',
  'a2a.finished': 'b8713e583bbe7003',
  'memory.remembered': 'ba16e4224abb1315',
  'memory.repeated': '2aea91093cd3c9da',
  'memory.promoted': 'cccd094c5c4086f1',
  'memory.rejected': '42ca6ab63d87da34',
  'memory.pinned': 'c15e271060ca3e83',
  'memory.recalled': 'cc4d742753c52e50',
  'memory.contradicted': 'caaea79403eb8f70',
  'memory.settled': '62b7736f17d4faa3',
  'memory.forgotten': '26b98b9afa848735',
  'embedding.used': 'b38b042381aaa701',
  'skill.selected': '9bdf34ca9206dac0',
  'skill.expanded': '2fdacc9e801bab5b',
  'skill.trusted': '5ff417cb4dc58c10',
  'skill.configured': 'b6438497ee429c83',
  'skill.imported': '2711f014bf3faad9',
  'skill.removed': 'fa40497b52d0d429',
  'identity.changed': '3fc5f570c5614056',
  'prompt.accepted': '6e2345105181dae5',
  'summary.started': '98a8a44e2f1684d6',
  'summary.written': '6562810683432a8f',
  'summary.failed': 'f2c36ccb94482ee0',
  'rule.pinned': 'c9a55ece0b8a562c',
  'rule.unpinned': 'a2e78d7de3aa13a2',
  ...featureEventPins,
  'skill.installing': '5d1b9ddf72646147',
  'skill.installed': '8b2524cf961879a8',
  'skill.install_undone': '3a7d185eb1284f2f',
  'skill.pinned': 'da997543e8755d9e',
  'plan.approved': 'e1f5bc518303287d',
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
  configSchema: '5308567c8a76ccdb',
  errorBodySchema: 'bb011dec5da14bbf',
  requestedCallSchema: '792a211af16c7aba',
  usageSchema: '56c32c733e776149',
  approvalSchema: 'ba85e62505eea494',
  grantMatchSchema: 'fe96425b1e20f780',
  grantSchema: '084bd0f229ffbc72',
  grantScopeSchema: '493b81c132a8dc05',
  panicStatusSchema: 'ddfd13924e78170d',
  policyDecisionSchema: '4f176a8557554dcd',
  artifactRefSchema: '2ec991439ca17e61',
  callFactsSchema: 'e051ef3ee7d5bf75',
  toolListingSchema: 'b9029b7e04d64ef9',
  toolRunResultSchema: '5dc73ccb85187a46',
  eventEnvelopeSchema: '269dc1b035737cda',
};

test.each(eventTypes)('the format of %s is the one on disk', (type) => {
  expect(fingerprint(eventBodySchemas[type])).toBe(eventPins[type]);
});

test('the event families are these', () => {
  expect(eventTypes).toEqual(Object.keys(eventPins));
});

test('the operations and their formats are these (`TRAYCLAW_PINS=write` updates them)', () => {
  const file = join(import.meta.dirname, 'operations.json');
  const now = Object.entries(opTable).map(([name, op]) => [name, `${fingerprint(op.params, 'input')} ${fingerprint(op.result)}`]);
  const forms = Object.fromEntries(now.sort(([a = ''], [b = '']) => (a < b ? -1 : 1))) as Readonly<Record<string, string>>;
  if (process.env['TRAYCLAW_PINS'] === 'write') writeFileSync(file, `${JSON.stringify(forms, null, 2)}\n`);
  expect(forms).toEqual(JSON.parse(readFileSync(file, 'utf8')));
});

test('every operation has a handler, and no handler is without an operation', async () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-pins-'));
  const claw = await createTrayClaw({ home, environment: {}, resume: false });
  onTestFinished(async () => {
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  });
  expect([...claw.operations].sort()).toEqual(Object.keys(opTable).sort());
});

test('the formats shared by events and operations are these', () => {
  const now = Object.entries(shared).map(([name, schema]) => [name, fingerprint(schema, name === 'configSchema' ? 'input' : 'output')]);
  expect(Object.fromEntries(now)).toEqual(sharedPins);
});

test('every event has a sample, and reading it loses nothing', () => {
  const files = readdirSync(samples);
  for (const type of eventTypes) expect(files).toContain(`${type}.v1.json`);
  for (const file of files) {
    const type = eventTypes.find((name) => file.startsWith(`${name}.v1.`));
    const sample: unknown = JSON.parse(readFileSync(join(samples, file), 'utf8'));
    expect(type === undefined ? `no event for ${file}` : eventBodySchemas[type].parse(sample)).toEqual(sample);
  }
});
