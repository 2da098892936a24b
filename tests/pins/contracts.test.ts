// Pins: the formats on disk and between programs, as literals, so that no change of a format goes unnoticed.
//
// An event is red: existing logs contain its format. If the change only adds an optional field, earlier logs still read: add a sample that
// has it (samples/TYPE.v1.WHAT.json) and update the hash. Otherwise raise `v` of the event in the session log, add an upcaster that reads
// the old format, add a sample of the new one next to the old, and only then the new hash here.
// An operation or a shared format is red: doors, scripts and other programs use it. An added optional field is fine: update the hash.
// Anything else breaks them: add a new operation instead.

import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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
import { featureEventPins, featureOpPins } from './feature-pins.ts';

const samples = join(import.meta.dirname, 'samples');

/** A schema that JSON Schema cannot express throws: it could not be checked by anybody else either. */
function fingerprint(schema: z.ZodType, io: 'input' | 'output' = 'output'): string {
  return hash('sha256', canonicalJson(z.toJSONSchema(schema, { io, unrepresentable: 'throw' })), 'hex').slice(0, 16);
}

const eventPins: Readonly<Record<string, string>> = {
  'session.created': 'cbce2bcc6ed5217e',
  'session.renamed': '80893bb6883805f7',
  'session.archived': 'dd8ac300ccedad85',
  'session.pinned': '96a9266a2f7dfafb',
  'session.seen': 'bff3715996cd758b',
  'session.configured': '4ca6c947b0b7c7d3',
  'session.deleted': '37c28e4f6f5a76ea',
  'user.message': '0a0eae9de5db338b',
  'assistant.message': '89bea4866e3834b0',
  'turn.started': '4ee618c3d3afaade',
  'turn.superseded': '7de61ccd74dcd5ec',
  'turn.steered': '0ae5f8214340343b',
  'turn.cancel_requested': 'bdba04390e01580a',
  'turn.waiting': 'f2f6a1c3691aa423',
  'turn.resumed': '35726bcd177f5528',
  'turn.finished': '90284adb23579eaf',
  'brain.decided': '4723e408e381b2a2',
  'plan.drafted': '2696c9a26d2b2921',
  'observation.recorded': '73561d356ca8295f',
  'verification.finished': '701aa0ef1f8615ef',
  'reflection.recorded': '340f24a1f781636c',
  'pack.built': '9cbe8597b41c45b1',
  'model.requested': '7237e6209c2450ce',
  'model.retried': '30338517481a96b7',
  'model.finished': '80d697e9f82be0b1',
  'model.failed': 'ca30ee17874777a3',
  'budget.exceeded': 'ac3d0cfa045883c4',
  'budget.extended': 'e0de3205fc84ef4a',
  'budget.unpriced': '211f41d82396a91f',
  'policy.decided': 'a7b23bcc8addc4eb',
  'tool.rejected': 'af728be044b1837b',
  'approval.requested': 'c087da08fdedb1b6',
  'approval.decided': '277cceaef8dedd98',
  'grant.created': 'b413cad670b97742',
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
  'schedule.created': 'ae6edc98c9020407',
  'schedule.changed': '6d7ffdda79981037',
  'schedule.removed': 'f47dbf6f4cb2e878',
  'schedule.fired': 'abaf8e26b9499e8f',
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
  'a2a.called': '2051f562bc8af1e6',
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
};

/** Of each operation: its parameters as they are given, and its result. */
const opPins: Readonly<Record<string, string>> = {
  'message.send': 'b968e3ef9cd4023a ff37c2ac9859c997',
  'turn.wait': 'ef41152c5ae4de98 3f5ad08601d015fc',
  'turn.cancel': '5b2a285a9f432c76 20ca92aff9f65f72',
  'turn.steer': 'aabcf9468ed26f64 b39e39c192cf45da',
  'turn.get': '5b2a285a9f432c76 7ddf8ff7e0fa7413',
  'turn.retry': '7d22a5dfafb12b09 ff37c2ac9859c997',
  'turn.branch': 'a675a1f366a09cde ff37c2ac9859c997',
  'turn.continue': '5b2a285a9f432c76 ff37c2ac9859c997',
  'pack.get': 'a4adfd1a773e83b5 b13948000b5aa242',
  'tool.run': '40945fa1d8402b85 98d1e3a29ea2807f',
  'tool.list': '71fc596a20f27da3 f81831d4ba02eeb8',
  'approval.list': '7441eeb952b0dc92 a23588b857ff0548',
  'approval.decide': 'd08777339e2d4bac a24fb8871a1af2d1',
  'grant.list': '7441eeb952b0dc92 e2e0676a04a142e9',
  'grant.revoke': 'd46abf0fc18cb803 084bd0f229ffbc72',
  'grant.preview': '6c021b9da1f4b036 6c467ea517313d42',
  'outcome.list': '71fc596a20f27da3 144bf072f7fcd5fb',
  'outcome.settle': 'd2803bdf4689c1d6 1c3338c33a4f4e69',
  'panic.engage': 'd9cfa57d4d77e292 ddfd13924e78170d',
  'panic.release': '71fc596a20f27da3 ddfd13924e78170d',
  'panic.status': '71fc596a20f27da3 ddfd13924e78170d',
  ...featureOpPins,
  'policy.explain': '3b6ece5f57efd129 afc1cf583445ccc0',
  'sandbox.explain': '28b6ed4efb49bef8 7310e20fac74316d',
  'safety.url': 'f9f6d09b415062dd 45b3e17244ac5192',
  'safety.redact': '30a51beb7b49a603 63a57bbe020ddb70',
  'pack.list': 'b644621e03277952 ff12ae4c30bdfad2',
  'rule.pin': '079664dbc3ff950e 8f75653a7a6e80e3',
  'rule.unpin': 'a4286cdce2e110b5 8f75653a7a6e80e3',
  'rule.list': '4c1fe8708bf027d6 debae75eee51f3c9',
  'session.compact': '5e9b832ccb39a2a5 60c014794568d33d',
  'session.list': 'ca1559edbfde9f5f 13cae7d1700b6d3e',
  'session.get': '399013a11bd83515 b8daff8553dd8cf0',
  'session.create': 'f588a7277e542846 3e89290997cc241c',
  'session.rename': '7aba13a5fdd6a109 3e89290997cc241c',
  'session.pin': 'c51f8c1c44dbc50c 3e89290997cc241c',
  'session.seen': '981cc397f9601c99 3e89290997cc241c',
  'session.configure': 'c504a9307106fcfe 3e89290997cc241c',
  'session.search': '946db95ab90bf32a 327f878678384a40',
  'session.fork': '1f7af97afc1d4984 3e89290997cc241c',
  'session.export': '11efff579bbcda09 89bea4866e3834b0',
  'session.archive': 'bdbad8f627b1d8de 3e89290997cc241c',
  'session.delete': '5e9b832ccb39a2a5 b144b747aac9bd0a',
  'agent.list': '71fc596a20f27da3 145e222068526064',
  'helper.list': '9d592a9eb99897ca bcb33cad66307136',
  'helper.cancel': '1ca1924ed96e2f1a d4691b9152736524',
  'agent.get': '9e36b35ec884059b 3013fd8207dccbd7',
  'turn.events': 'ccce4a16f9a9782e 408193a5d9646fdd',
  'turn.export': '509952e5a5ba2dc7 89bea4866e3834b0',
  'activity.search': 'b9f30eb15a5a9f09 59e893ce2f2a1d62',
  'schedule.list': '71fc596a20f27da3 31b736e1ca90b461',
  'schedule.get': 'fcfe47b41c966372 d8efd46836bdffdd',
  'schedule.create': '88614392aa829820 d8efd46836bdffdd',
  'schedule.update': '5251e31ff1130778 d8efd46836bdffdd',
  'schedule.remove': '813a7233715652d5 7e8dfe85e4fedb26',
  'schedule.run': '813a7233715652d5 ff37c2ac9859c997',
  'schedule.preview': '2f41a26076fe5126 cb174274d1e6b7e2',
  'heartbeat.get': '71fc596a20f27da3 9d1acf38c66356ff',
  'heartbeat.run': '71fc596a20f27da3 9d1acf38c66356ff',
  'task.list': '0e1d4bb6d3ef1b7d 2544a89bb267b8d1',
  'task.add': 'dadf11883d29aec2 c05ef6c3b7b8649e',
  'task.close': 'ca0784d447be6dc1 c05ef6c3b7b8649e',
  'signal.list': 'c99b9e8c65cac5ce e706b3889c695d73',
  'signal.send': '56d5fabb30f52dcb 80fd329778560558',
  'signal.hook': '5f1681781fba590d 27c6753b7002858d',
  'command.list': '71fc596a20f27da3 9701522dcc9a66c4',
  'command.complete': '4f99be8aaa1e41a4 697ddafc404ab504',
  'command.run': '0a8c8385bc460823 db0c616dc0cf8d1f',
  'dlq.list': 'cafa7fa717f41fe8 642a9bc661544ef9',
  'dlq.retry': 'a980b1cf12c5b430 ff37c2ac9859c997',
  'dlq.clear': '54af7e428d00e337 cd1a9dc87c79b517',
  'telegram.status': '71fc596a20f27da3 738257e5ad538606',
  'telegram.pair': '71fc596a20f27da3 76b589fc398b57f2',
  'telegram.list': '71fc596a20f27da3 f3c99e304ae7a85d',
  'telegram.confirm': 'f96124ec1ea2ce12 f3c99e304ae7a85d',
  'telegram.refuse': 'f96124ec1ea2ce12 f3c99e304ae7a85d',
  'telegram.revoke': '17382e6ed0fc4f35 f3c99e304ae7a85d',
  'telegram.pause': '71fc596a20f27da3 738257e5ad538606',
  'telegram.resume': '71fc596a20f27da3 738257e5ad538606',
  'outbox.list': '86da00314d8666fa 5e08150875110a08',
  'outbox.settle': 'd1c79d100152a078 36ce886da287f42d',
  'chat.list': '0ccd07addc714b4e 6b6a70f70ce8c54b',
  'chat.bind': 'ca046b517e1506e6 a91cfb17fa3a157f',
  'skill.list': 'e47aa54e3d14dfc9 7d30319f5c675988',
  'skill.get': 'aa1ed9ee5f212adc fdd424dbde9336b3',
  'skill.lint': 'ae4f2b927b9bbad9 23f255fce38a355a',
  'skill.import': '60a7190c8d4f5d1e 677321370dfd7fb3',
  'skill.remove': 'aa1ed9ee5f212adc 2ec42ca36ec05572',
  'skill.trust': '142ce17684d5ba4c 15644007ce187ca0',
  'skill.configure': '2b33b4ff65f60d6e 9003a8ee3d9de50a',
  'skill.reload': '71fc596a20f27da3 12966ae02f6901ff',
  'identity.get': 'e07d3fa6f9cfaa14 b45365d769bb4a20',
  'identity.set': 'b6fbfe9c8acb354f 7397679eb6d8b3f7',
  'identity.versions': 'fb4ab63b2fafc5ac 4ea9fe5669a2d4ce',
  'identity.diff': '14bb7e0d02877f54 158443626d1b56f5',
  'identity.revert': 'bfd2741039d48b03 7397679eb6d8b3f7',
  'prompt.list': '32c3c0d253cd363a 094cc21baf007935',
  'prompt.versions': '197bd525aa9cbeba 28eb0c781b0c6435',
  'prompt.diff': '0fb64439d8a3a2be 158443626d1b56f5',
  'prompt.get': '19ff0d7842f4d9b7 1c26004c16dd9493',
  'prompt.set': '5ee10c120bf1b7f8 2781a4550c6ba854',
  'prompt.refresh': '5bb63839e0bcaf88 094cc21baf007935',
  'prompt.accept': '8cc2bfa3d7d25063 2781a4550c6ba854',
  'workspace.list': '71fc596a20f27da3 4ed33749fa78bd74',
  'workspace.look': '98ba271d18a014e7 478a431248c2cbf3',
  'workspace.trust': '6f3f9a3461eddc45 a7a4db36f693e9da',
  'workspace.forget': '6f3f9a3461eddc45 9fba78a402b3c799',
  'audit.verify': '71fc596a20f27da3 88f6f0f67b305228',
  'audit.accept': '71fc596a20f27da3 c49609d9f86ff8eb',
  'replay.run': '5b2a285a9f432c76 c1460a8cb3c08cc3',
  'health.check': 'bbab38a06fa1fb0d a9548d1153123c5c',
  'health.fix': 'fc91dc4b3eb51482 61fca6685a1f8498',
  'recovery.list': '71fc596a20f27da3 b3223c13de6a8d5f',
  'recovery.plan': '0ae80c6dfdbb800a d0edd4f028ef4ea4',
  'recovery.run': '9f9eb57135203f42 7ab9171cdfe89999',
  'usage.get': 'a454832df253e044 b4220afa835f91c1',
  'budget.get': 'ecb5ef2490e2cf0a 6dd7e3d7d4334ae2',
  'budget.allow': 'f21f06567506c205 6dd7e3d7d4334ae2',
  'config.get': '71fc596a20f27da3 09d1246f7a3a6347',
  'config.set': '6f0c06fb26ffc9ee 6f1839e341ba43be',
  'config.schema': '71fc596a20f27da3 a13d4d2dab848456',
  'model.list': '1fee82569cb8df85 b605b7463a3dfca9',
  'model.route': '91dd7795751e1994 ff1bcab0d71f5d86',
  'model.test': '8386d8a370176e9e 5826131ab4f7b3ea',
  'model.presets': '71fc596a20f27da3 6a28a1a21682e1ac',
  'provider.try': '874268c09976a49b 4acf1259631c0e47',
  'provider.add': 'f71c8be48ce8cc4e 3ff1ce35da41abc4',
  'secret.set': '289eea65c2414465 f674eeb595fa6461',
  'secret.list': '71fc596a20f27da3 ae28a9b08dd17db7',
  'secret.delete': '1a182cb9d48c2904 952d63f7a12b75fa',
  'secret.status': '71fc596a20f27da3 6be4b09ee4819a0b',
  'secret.unlock': 'c0a4b538f78c3fc4 6be4b09ee4819a0b',
  'artifact.list': 'b644621e03277952 3c92461840b123b8',
  'artifact.get': 'a3a7f0e5034bcb75 25f0e155134fd98d',
  'checkpoint.list': '7ee8a814b726d588 7aa95a965625d1e1',
  'checkpoint.preview': '21713ff390dc5b6e ec75894696a07e48',
  'checkpoint.restore': '78e44d96a3046b58 04246a56646f10f1',
  'checkpoint.diff': 'ec93a649eafdf9ad 436e67d6377f188d',
  'approval.diff': 'acee2a3880a698fa 436e67d6377f188d',
  'backup.create': '71fc596a20f27da3 eb2057b51fa1ff46',
  'backup.list': '71fc596a20f27da3 fae727c3ebd08731',
  'backup.verify': '8c42577910880455 d9109f4e71cbcab2',
  'knowledge.add': 'bcca5b140215d77e d11aec2494f7ff1b',
  'knowledge.list': '71fc596a20f27da3 49196f7ba6435bf2',
  'knowledge.preview': '448626e79b81bcca fc93f21fe5eafb77',
  'knowledge.reindex': '394d14e54aeebb51 6d025f76c2209b75',
  'knowledge.search': '7cb7fc3a47d07122 3e82c14d046fdb82',
  'knowledge.remove': 'a0340622795780d8 d9d7299c8e27c2ff',
  'knowledge.status': '718a80b9729723e9 d77181c3e21dd4e4',
  'memory.add': '9b6e5c0e49151ff8 ae51a1f252b32ecf',
  'memory.export': '71fc596a20f27da3 97d27f0bca179a3c',
  'memory.forget': '14ee1f9b2f9a9e85 d5a98156bf249f82',
  'memory.get': '14ee1f9b2f9a9e85 ae51a1f252b32ecf',
  'memory.import': '75459fcacde103bc 446e6e3791cf8407',
  'memory.list': '0d9560fe322ad59d 1b132f0c7bb45369',
  'memory.pin': '8948bf05d32bf53c ae51a1f252b32ecf',
  'memory.promote': '14ee1f9b2f9a9e85 ae51a1f252b32ecf',
  'memory.recall': '1ec280e14c929f97 fd85dff5ee6e1180',
  'memory.reject': '14ee1f9b2f9a9e85 d5a98156bf249f82',
  'memory.settle': 'ef20e752e33a29a3 05d45577939b475e',
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
  configSchema: '8d18a299db81338a',
  errorBodySchema: 'bb011dec5da14bbf',
  requestedCallSchema: '792a211af16c7aba',
  usageSchema: '56c32c733e776149',
  approvalSchema: 'a24fb8871a1af2d1',
  grantMatchSchema: 'fe96425b1e20f780',
  grantSchema: '084bd0f229ffbc72',
  grantScopeSchema: '493b81c132a8dc05',
  panicStatusSchema: 'ddfd13924e78170d',
  policyDecisionSchema: 'b8fb578190d78e37',
  artifactRefSchema: '2ec991439ca17e61',
  callFactsSchema: 'f52661afe75c5a67',
  toolListingSchema: 'b9029b7e04d64ef9',
  toolRunResultSchema: '5dc73ccb85187a46',
  eventEnvelopeSchema: '269dc1b035737cda',
};

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

test('every operation has a handler, and no handler is without an operation', async () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-pins-'));
  const claw = await createTrayClaw({ home, environment: {}, resume: false });
  onTestFinished(async () => {
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  });
  expect([...claw.operations].sort()).toEqual(Object.keys(opTable).sort());
});

test('the forms that events and operations share are these', () => {
  const now = Object.entries(shared).map(([name, schema]) => [name, fingerprint(schema, name === 'configSchema' ? 'input' : 'output')]);
  expect(Object.fromEntries(now)).toEqual(sharedPins);
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
