// Describes one event of the log as a sentence for the activity view. Only facts of the log; a model's own text is marked as such.

import type { AnyEvent } from '../../core/contracts/events.ts';
import type { RouteNote } from '../../core/contracts/model-routes.ts';
import { isUnreadable } from '../../core/contracts/turn-view-fold.ts';
import { nameActor, nameChannel } from './channels.ts';
import { skillLines } from './describe-skills.ts';
import { channelLines } from './describe-channel.ts';
import { telegramLines } from './describe-telegram.ts';
import { line, lines, type EventLine, type LineFormats, type Lines, type LineTelling, type Telling } from './event-line.ts';
import { oneLine } from './format.ts';
import type { Formats } from './i18n/formats.ts';
import type { Words } from './i18n/words.ts';

export type { EventLine } from './event-line.ts';

function routeLines({ name, reason, passed }: RouteNote, e: Words['activity']['events']): string {
  return lines(e.route(name, reason), ...passed.map(({ model, reason: why }) => e.passed(model, why)));
}

const verifyTones = { pass: 'good', ask: 'wait', deny: 'bad' } as const;
const workTones = { pass: 'good', fail: 'bad', error: 'bad' } as const;
const opinionTones = { accept: 'good', revise: 'wait', ask: 'wait' } as const;
const hookTones = { passed: 'plain', denied: 'bad', asked: 'wait', failed: 'bad', skipped: 'wait' } as const;
const signalTones = { recorded: 'plain', queued: 'plain', run: 'good', steered: 'good', limited: 'wait', refused: 'bad' } as const;
const gateTones = { allow: 'good', ask: 'wait', deny: 'bad' } as const;

const tell: Lines = {
  ...channelLines,
  ...telegramLines,
  ...skillLines,
  'user.message': ({ body }, { e, words }) => {
    const channel = nameChannel(body.channel, words.approvals.channels);
    return line(body.sender === body.channel ? e.messageOver(channel) : e.messageFrom(body.sender, channel), body.text);
  },
  'turn.started': ({ body }, { e }) => line(e.turnStarted, body.model === null ? e.turnStartedDirect : e.turnStartedModel(body.model)),
  'turn.superseded': (_event, { e }) => line(e.superseded),
  'turn.steered': ({ body }, { e }) => line(e.steered(body.sender), body.text),
  'turn.cancel_requested': ({ body }, { e }) => line(e.stopAsked, body.reason, 'wait'),
  'turn.waiting': ({ body }, { e }) => line(e.waits(body.approvalIds.length), '', 'wait'),
  'turn.resumed': ({ body }, { e }) => line(e.wentOn, body.reason),
  'turn.finished': ({ body }, { e, format }) =>
    line(
      e.ended(e.statuses[body.status]),
      lines(
        e.endedFacts(
          body.modelCalls,
          body.toolCalls,
          format.tokens(body.usage.inputTokens + body.usage.outputTokens),
          format.usd(body.costUsd),
        ),
        body.error?.message ?? '',
      ),
      body.status === 'done' ? 'good' : body.error === null ? 'wait' : 'bad',
    ),
  'assistant.message': ({ body }, { e }) => line(e.answered, body.text),
  'brain.decided': ({ body }, { e }) => line(e.decided(known(e.intents, body.intent)), body.reason),
  'plan.drafted': ({ body }, { e, call }) =>
    line(e.planned(body.calls.length, body.calls.map((planned) => call(planned, 'decided')).join(', ')), body.text),
  'observation.recorded': ({ body }, { e }) =>
    line(e.observed(body.callIds.length), body.failed > 0 ? e.observedFacts(body.failed, body.repeated) : ''),
  'verification.finished': ({ body }, { e }) => line(body.ok ? e.checkedOk : e.checkedNotOk, body.detail, body.ok ? 'good' : 'bad'),
  'reflection.recorded': ({ body }, { e }) => line(e.reflected(body.why), body.note),
  'pack.built': ({ body }, { e, format, words }) => {
    const leftOut = body.dropped.reduce((sum, { count }) => sum + count, 0);
    const { sectionNames } = words.chat.pack;
    const sections = body.sections.map(({ name, tokens }) => `${known(sectionNames, name)} ${format.number(tokens)}`).join(' · ');
    return {
      ...line(
        e.packed(format.tokens(body.tokens), format.tokens(body.budgetTokens)),
        lines(sections, leftOut === 0 ? '' : e.leftOut(leftOut)),
      ),
      packId: body.packId,
    };
  },
  'model.requested': ({ body }, { e }) => line(e.asked(body.model), body.route === undefined ? '' : routeLines(body.route, e)),
  'model.retried': ({ body }, { e, format }) => line(e.attempt(body.attempt, format.duration(body.waitMs)), body.error.message, 'wait'),
  'model.finished': ({ body }, { e, format, call }) =>
    line(
      e.modelAnswered(format.duration(body.tookMs)),
      lines(
        e.modelFacts(format.tokens(body.usage.inputTokens), format.tokens(body.usage.outputTokens), format.usd(body.costUsd)),
        body.calls.length > 0 ? e.modelAskedFor(body.calls.map((asked) => call(asked, 'decided')).join(', ')) : '',
      ),
    ),
  'model.failed': ({ body }, { e }) =>
    line(
      e.modelFailed,
      lines(body.error.message, body.failover === undefined ? '' : e.failover(body.failover.to)),
      body.again === true || body.failover !== undefined ? 'wait' : 'bad',
    ),
  'budget.exceeded': ({ body }, { e, format }) => {
    const scope = e.scopes[body.scope];
    const show = (amount: number): string => (body.unit === 'usd' ? format.usd(amount) : format.tokens(amount));
    const title = body.needed === undefined ? e.budgetUsedUp(scope) : e.budgetTooSmall(scope);
    return line(title, e.budgetFacts(show(body.spent), show(body.limit)), 'bad');
  },
  'budget.extended': ({ body }, { e, words, format }) => {
    const show = (amount: number): string => (body.unit === 'usd' ? format.usd(amount) : format.tokens(amount));
    return line(
      e.budgetMore(e.scopes[body.scope], nameActor(body.by, words.approvals.actors)),
      e.budgetMoreFacts(show(body.amount), show(body.limit)),
    );
  },
  'budget.unpriced': ({ body }, { e }) => line(e.budgetUnpriced, e.budgetUnpricedFacts(body.model, body.scopes), 'wait'),
  'policy.decided': ({ body }, { e, call }) => ({
    ...line(e.gate[body.decision](call(body, 'decided')), body.reason, gateTones[body.decision]),
    ruleId: body.ruleId,
  }),
  'tool.rejected': ({ body }, { e, call }) => line(e.rejected(call(body, 'decided')), body.error.message, 'bad'),
  'approval.requested': ({ body }, { e }) => line(e.approvalAsked, `${body.approval.summary}\n${body.approval.risk}`, 'wait'),
  'approval.decided': ({ body }, { e, words }) =>
    line(
      e.answers[body.decision](nameActor(body.by, words.approvals.actors)),
      [body.scope === null ? '' : e.scope(e.grantScopes[body.scope.kind]), body.edited === undefined ? '' : e.changed(body.edited.args)]
        .filter(Boolean)
        .join('\n'),
      body.decision === 'approve' ? 'good' : 'wait',
    ),
  'grant.created': ({ body }, { e }) => line(e.grantGiven, body.grant.covers),
  'grant.spent': (_event, { e }) => line(e.grantUsed),
  'grant.revoked': ({ body }, { e, words }) => line(e.grantRevoked(nameActor(body.by, words.approvals.actors)), '', 'wait'),
  'tool.requested': ({ body }, { e, call }) => line(e.started(call(body, 'decided')), body.args),
  'tool.spawned': ({ body }, { e }) => line(e.process(body.pid)),
  'tool.finished': ({ body }, { e, format, call }) =>
    line(
      e.finished(call(body, body.outcome), e.outcomes[body.outcome], format.duration(body.tookMs)),
      body.forUser || body.forModel,
      body.outcome === 'ok' ? 'good' : body.outcome === 'error' || body.outcome === 'timeout' ? 'bad' : 'wait',
    ),
  'taint.marked': ({ body }, { e }) => {
    const marked = [...body.sources.map(({ kind, where }) => `${kind} ${where}`), ...body.paths];
    return marked.length > 0 ? line(e.words, marked.join('\n'), 'wait') : line(e.wordsGone, (body.cleaned ?? []).join('\n'));
  },
  'tool.outcome_unknown': ({ body }, { e, call }) => line(e.outcomeUnknown(call(body, 'decided')), body.reason, 'wait'),
  'tool.outcome_settled': ({ body }, { e, words }) => line(e.settled[body.answer](nameActor(body.by, words.approvals.actors))),
  'checkpoint.taken': ({ body }, { e }) =>
    line(body.undoes === undefined ? e.kept : e.keptForUndo, body.files.map(({ path }) => path).join('\n')),
  'checkpoint.closed': ({ body }, { e }) => line(e.looked, body.files.map(({ path }) => path).join('\n')),
  'checkpoint.restored': ({ body }, { e, words }) =>
    line(
      e.undone(body.files.length, nameActor(body.by, words.approvals.actors)),
      [...body.files.map(({ path }) => path), ...body.refused.map(({ path, reason }) => e.undoRefused(path, reason))].join('\n'),
      body.refused.length === 0 ? 'good' : 'wait',
    ),
  'panic.engaged': ({ body }, { e, words }) => line(e.panic(nameActor(body.by, words.approvals.actors)), body.reason, 'bad'),
  'panic.released': ({ body }, { e, words }) => line(e.panicReleased(nameActor(body.by, words.approvals.actors))),
  'log.gap_found': ({ body }, { e }) => line(e.logGap(body.missing), '', 'bad'),
  'log.gap_accepted': ({ body }, { e, words }) => line(e.logGapAccepted(nameActor(body.by, words.approvals.actors))),
  'a2a.called': ({ body }, { e }) => line(e.helperCalled(body.agentId, body.label), body.task),
  'a2a.started': ({ body }, { e }) => line(e.helperStarted(body.attempt)),
  'a2a.retried': ({ body }, { e, format }) => line(e.helperRetried(body.attempt, format.duration(body.waitMs)), body.reason, 'wait'),
  'a2a.cancel_requested': ({ body }, { e }) => line(e.helperStopAsked(body.by), body.reason, 'wait'),
  'a2a.finished': ({ body }, { e }) =>
    line(
      e.helperEnded(body.status === 'timeout' ? e.helperEnds.timeout : e.statuses[body.status]),
      body.text,
      body.status === 'done' ? 'good' : 'bad',
    ),
  'config.changed': ({ body }, { e, words }) => line(e.settingsChanged(nameActor(body.by, words.approvals.actors)), body.keys.join('\n')),
  'chat.bound': ({ body }, { e }) => line(e.chatBound(body.chat.channel, body.by), body.title),
  'outbound.queued': ({ body }, { e }) => line(e.outbound.queued(body.to.channel), body.text),
  'outbound.sending': ({ body }, { e }) => line(e.outbound.sending(body.attempt)),
  'outbound.part_sent': (_event, { e }) => line(e.outbound.partSent),
  'outbound.sent': (_event, { e }) => line(e.outbound.sent, '', 'good'),
  'outbound.failed': ({ body }, { e }) => line(body.retryAtMs === null ? e.outbound.failed : e.outbound.again, body.error, 'bad'),
  'outbound.uncertain': ({ body }, { e }) => line(e.outbound.uncertain, body.reason, 'wait'),
  'outbound.settled': ({ body }, { e }) => line(e.outbound.settled[body.answer](body.by)),
  'dead_letter.captured': ({ body }, { e }) => line(e.letterCaptured(body.attempt), lines(body.reason.message, body.left), 'bad'),
  'dead_letter.retried': ({ body }, { e }) => line(e.letterRetried(body.by)),
  'dead_letter.left': ({ body }, { e }) => line(e.letterLeft, body.why, 'wait'),
  'dead_letter.settled': ({ body }, { e }) => line(e.letterSettled[body.outcome], '', 'good'),
  'dead_letter.cleared': ({ body }, { e }) => line(e.letterCleared(body.by)),
  'summary.started': (_event, { e }) => line(e.summingUp),
  'summary.written': ({ body }, { e, format }) =>
    line(
      e.summedUp(body.source.messages, format.tokens(body.tokens)),
      lines(body.fallback === undefined ? '' : e.summedUpByRule(body.fallback), body.text),
    ),
  'summary.failed': ({ body }, { e }) => line(e.notSummedUp, body.error.message, 'wait'),
  'embedding.used': ({ body }, { e, format }) => line(e.embedded[body.purpose](body.count, format.tokens(body.tokens)), body.model),
  'rule.pinned': ({ body }, { e }) => line(e.rulePinned(body.by), body.text),
  'rule.unpinned': ({ body }, { e }) => line(e.ruleUnpinned(body.by)),
  'governor.assessed': ({ body }, { e }) =>
    line(
      e.governor[body.mode],
      body.findings.map(({ ruleId, directive }) => `${ruleId}: ${directive}`).join('\n'),
      body.mode === 'on' ? 'wait' : 'plain',
    ),
  'call.verified': ({ body }, { e }) => line(e.verified(body.by, body.verdict), body.reason, verifyTones[body.outcome]),
  'opinion.requested': ({ body }, { e }) => line(e.opinionRequested(body.by), body.members.join('\n')),
  'opinion.given': ({ body }, { e }) =>
    line(e.opinionGiven(body.model), body.error ?? body.text, body.error === undefined ? 'plain' : 'bad'),
  'value.given': ({ body }, { e }) =>
    line(e.valueGiven(body.model), body.error ?? JSON.stringify(body.value, null, 2), body.error === undefined ? 'plain' : 'bad'),
  'opinion.judged': ({ body }, { e }) =>
    line(e.opinionJudged[body.verdict], lines(body.reason, body.error ?? ''), opinionTones[body.verdict]),
  'eval.started': ({ body }, { e }) => line(e.eval.started(body.cases, body.by), body.path),
  'eval.case_finished': ({ body: { result } }, { e }) =>
    line(e.eval.ended[result.verdict](result.name), result.error ?? result.text, workTones[result.verdict]),
  'eval.finished': ({ body }, { e }) => line(e.eval.finished(body.passed, body.failed, body.errors)),
  'pipeline.started': ({ body }, { e }) => line(e.pipeline.started(body.name, body.by), body.input),
  'pipeline.node_started': ({ body }, { e }) => line(e.pipeline.begun(body.node)),
  'pipeline.node_finished': ({ body }, { e }) =>
    line(e.pipeline.ended[body.status](body.node), body.error ?? body.text, body.status === 'failed' ? 'bad' : 'plain'),
  'pipeline.finished': ({ body }, { e }) =>
    line(e.pipeline.finished[body.status], lines(body.reason, body.text), body.status === 'done' ? 'good' : 'bad'),
  'peer.task_accepted': ({ body }, { e }) => line(e.peer.accepted(body.client), body.sessionId),
  'peer.sent': ({ body }, { e }) => line(e.peer.sent(body.peer)),
  'peer.followed': (_event, { e }) => line(e.peer.followed),
  'peer.ended': ({ body }, { e }) => line(e.peer.ended[body.state], '', body.state === 'completed' ? 'good' : 'bad'),
  'plan.approved': ({ body }, { e }) => line(body.step === null ? e.plan.approved : e.plan.step(body.step), body.steps.join('\n'), 'good'),
  'work.started': ({ body }, { e }) => line(e.work.started(body.by), body.goal),
  'work.copied': ({ body }, { e }) => line(e.work.copied(body.candidate), body.folder),
  'work.attempted': ({ body }, { e }) => line(e.work.attempted(body.attempt), body.text, body.status === 'done' ? 'plain' : 'bad'),
  'work.checked': ({ body }, { e }) => line(e.work.checked[body.verdict](body.text), body.evidence, workTones[body.verdict]),
  'work.chosen': ({ body }, { e }) => line(e.work.chosen(body.candidate, body.by), body.reason),
  'work.finished': ({ body }, { e }) => line(e.work.finished[body.status], body.reason, workTones[body.status]),
  'door.token_created': ({ body }, { e }) => line(e.doorTokenCreated(body.name, body.by), body.scopes.join('\n')),
  'door.token_revoked': ({ body }, { e }) => line(e.doorTokenRevoked(body.by), body.tokenId),
  'door.answered': ({ body }, { e }) =>
    line(e.doorAnswered(body.model, body.client), body.error ?? body.calls.join('\n'), body.error === undefined ? 'plain' : 'bad'),
  'project.accepted': ({ body }, { e }) => line(e.projectAccepted(body.by), body.path),
  'project.withdrawn': ({ body }, { e }) => line(e.projectWithdrawn(body.by), body.path),
  'saved.written': ({ body }, { e }) => line(e.promptSaved(body.name, body.by), body.text),
  'saved.removed': ({ body }, { e }) => line(e.promptRemoved(body.name, body.by)),
  'plugin.approved': ({ body }, { e }) => line(e.pluginApproved(body.by), body.path),
  'plugin.revoked': ({ body }, { e }) => line(e.pluginRevoked(body.by), body.path),
  'mcp.approved': ({ body }, { e }) => line(e.mcpApproved(body.server, body.by), body.tools.map(({ name }) => name).join(', ')),
  'mcp.task_started': ({ body }, { e }) => line(e.mcpTask(body.server, body.tool)),
  'mcp.removed': ({ body }, { e }) => line(e.mcpRemoved(body.server, body.by)),
  'mcp.asked': ({ body }, { e }) => line(e.mcpAsked(body.server), body.message, 'wait'),
  'mcp.answered': ({ body }, { e }) => line(e.mcpAnswered[body.action](body.server, body.by), body.fields.join(', ')),
  'plugin.recorded': ({ body }, { e }) => line(e.pluginRecorded(body.plugin, body.name)),
  'hook.ran': ({ body }, { e }) => line(e.hookRan(body.name, body.on, e.hookOutcomes[body.outcome]), body.reason, hookTones[body.outcome]),
  'schedule.created': ({ body }, { e }) => line(e.schedule.created(body.schedule.createdBy), body.schedule.name),
  'schedule.changed': ({ body }, { e }) => line(e.schedule.changed(body.by), body.schedule.name),
  'schedule.removed': ({ body }, { e }) => line(e.schedule.removed(body.by)),
  'schedule.fired': ({ body }, { e }) =>
    line(e.schedule.fired[body.disposition](body.count ?? 1), body.reason ?? '', body.disposition === 'run' ? 'good' : 'wait'),
  'schedule.rewound': (_event, { e }) => line(e.schedule.rewound, '', 'wait'),
  'heartbeat.ended': ({ body }, { e }) => line(e.heartbeat[body.outcome], '', body.outcome === 'failed' ? 'bad' : 'plain'),
  'task.added': ({ body }, { e }) => line(e.taskAdded(body.by), body.text),
  'task.closed': ({ body }, { e }) => line(e.taskClosed[body.how](body.by)),
  'signal.received': ({ body }, { e }) =>
    line(e.signal(body.name), lines(e.signalDone[body.disposition], body.text, body.reason ?? ''), signalTones[body.disposition]),
  'signal.delivered': ({ body }, { e }) => line(e.signalsTold(body.signalIds.length)),
  'memory.remembered': ({ body }, { e }) =>
    line(e.memory[body.state], lines(body.memory.text, body.rule ?? ''), body.state === 'kept' ? 'plain' : 'wait'),
  'memory.repeated': (_event, { e }) => line(e.memory.repeated),
  'memory.promoted': ({ body }, { e }) => line(e.memory.promoted(body.by), body.rule),
  'memory.rejected': ({ body }, { e }) => line(e.memory.rejected(body.by)),
  'memory.pinned': ({ body }, { e }) => line(body.pinned ? e.memory.pinned(body.by) : e.memory.unpinned(body.by)),
  'memory.recalled': ({ body }, { e }) => line(e.memory.recalled(body.memoryIds.length)),
  'memory.contradicted': ({ body }, { e }) => line(e.memory.contradicted, body.reason, 'wait'),
  'memory.settled': ({ body }, { e }) => line(e.memory.settled(body.by)),
  'memory.forgotten': ({ body }, { e }) => line(e.memory.forgotten(body.by), body.reason),
  'recovery.finished': ({ body }, { e }) => line(e.recovered(body.by), body.did.join('\n'), 'good'),
};

const detailCharsMax = 4000;

export function describeEvent(event: AnyEvent, telling: Telling): EventLine {
  // The table pairs event and description, which the compiler cannot infer.
  const describe = tell[event.type] as ((event: AnyEvent, telling: LineTelling) => EventLine) | undefined;
  const described =
    describe?.(event, { ...telling, format: spaced(telling.format), e: telling.words.activity.events }) ?? unknownLine(event, telling);
  return { ...described, title: oneLine(described.title, 300), detail: described.detail.slice(0, detailCharsMax) };
}

function spaced(format: Formats): LineFormats {
  const plain =
    <T>(show: (value: T) => string) =>
    (value: T): string =>
      show(value).replaceAll('\u00a0', ' ');
  return {
    duration: plain((ms) => format.duration(ms)),
    number: plain((value) => format.number(value)),
    tokens: plain((tokens) => format.tokens(tokens)),
    usd: plain((usd) => format.usd(usd)),
  };
}

function unknownLine(event: AnyEvent, { words }: Telling): EventLine {
  return isUnreadable(event) ? line(words.activity.events.unreadable, '', 'bad') : line(event.type);
}

/** The text for a code; falls back to the code, because the log may contain codes of a later program. */
export function known(words: Readonly<Record<string, string>>, code: string): string {
  return words[code] ?? code;
}
