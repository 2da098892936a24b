// Checks one criterion against one attempt: by rule, by a command behind the gate, or by a judge model. Records nothing.

import { readFileSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { toAppError } from '../../contracts/errors.ts';
import type { EventBodies } from '../../contracts/events.ts';
import type { Criterion } from '../../contracts/features/work.ts';
import { judgeFirmly, outputOfJsonSchema, type Spent, valueIn } from '../../mind/asking/asking.ts';
import type { Watching } from '../../runtime/runs/runs.ts';
import { type TurnPort, whenTurnEnds } from '../../runtime/turns/turns.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { Spine } from '../feature.ts';

export interface CriteriaDeps extends Pick<Spine, 'log' | 'asking' | 'redactPrompt'> {
  readonly turns: Pick<TurnPort, 'runTool' | 'whenResting'>;
  /** Whether a real path is protected, so that only a person may read it. */
  readonly isProtected: (real: string) => boolean;
}

/** The attempt to check, and where it was made. */
export interface Checked {
  readonly key: string;
  readonly goal: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly agentId: string;
  readonly channel: string;
  readonly answer: string;
  /** Null for the configured workspace. */
  readonly workspace: string | null;
  readonly folder: string;
  readonly deliverables: readonly string[];
  /** The model that judges if a criterion names none. */
  judge(): string | null;
}

export interface Verdict {
  readonly verdict: 'pass' | 'fail' | 'error';
  readonly evidence: string;
  readonly by: string;
  readonly spent?: Spent;
}

const EVIDENCE_CHARS_MAX = 2_000;
const DELIVERED_CHARS_MAX = 12_000;

/** Fails with `cancelled` once the signal aborts, and with the errors of starting a turn. */
export async function checkCriterion(deps: CriteriaDeps, criterion: Criterion, work: Checked, watching: Watching): Promise<Verdict> {
  const looked = lookByRule(deps, criterion, work);
  if (looked !== null) return looked;
  if ('command' in criterion) return checkCommand(deps, criterion.command, work, watching);
  if ('judge' in criterion) return checkByJudge(deps, criterion, work, watching.signal);
  return { verdict: 'error', evidence: 'Only a person can check this.', by: 'rule' };
}

/** Checks a criterion that needs no command, model or person. Null for any other criterion. */
export function lookByRule(
  deps: Pick<CriteriaDeps, 'isProtected'>,
  criterion: Criterion,
  work: Pick<Checked, 'answer' | 'folder'>,
): Verdict | null {
  if ('file' in criterion) {
    const found = findFile(work.folder, criterion.file, deps.isProtected);
    return 'problem' in found ? byRule(false, `${found.problem}.`) : byRule(true, `${criterion.file} has ${found.sizeBytes} bytes.`);
  }
  if ('contains' in criterion) return checkText(deps, work, criterion.in, (text) => findWords(text, criterion.contains));
  if ('schema' in criterion) return checkText(deps, work, criterion.in, (text) => findValue(text, criterion.schema));
  return null;
}

function byRule(isMet: boolean, evidence: string): Verdict {
  return { verdict: isMet ? 'pass' : 'fail', evidence, by: 'rule' };
}

function checkText(
  deps: Pick<CriteriaDeps, 'isProtected'>,
  work: Pick<Checked, 'answer' | 'folder'>,
  file: string | undefined,
  look: (text: string) => Verdict,
): Verdict {
  if (file === undefined) return look(work.answer);
  const read = readFound(work.folder, file, deps.isProtected);
  return 'problem' in read ? byRule(false, `${read.problem}.`) : look(read.text);
}

function findWords(text: string, wanted: string): Verdict {
  const at = text.indexOf(wanted);
  if (at === -1) return byRule(false, `"${wanted}" is not in it.`);
  return byRule(true, `Found at character ${at + 1}: ${text.slice(Math.max(0, at - 40), at + wanted.length + 40)}`);
}

function findValue(text: string, schema: Readonly<Record<string, unknown>>): Verdict {
  try {
    const found = valueIn(text, outputOfJsonSchema(schema));
    return found === undefined ? byRule(false, 'It is no JSON value that follows the schema.') : byRule(true, 'It follows the schema.');
  } catch (cause) {
    return { verdict: 'error', evidence: toAppError(cause).message, by: 'rule' };
  }
}

async function checkCommand(deps: CriteriaDeps, command: string, work: Checked, watching: Watching): Promise<Verdict> {
  const { sessionId, agentId, channel, workspace, key } = work;
  const started = deps.turns.runTool({
    sessionId,
    agentId,
    channel,
    workspace,
    tool: 'exec',
    args: JSON.stringify({ action: 'run', command }),
    // After a crash the same call is found by this key, so that a command never runs twice for one check.
    dedupeKey: key,
    before: [],
  });
  const end = await whenTurnEnds(deps, started, watching);
  const result = resultOf(deps.log, started);
  if (result === null) return { verdict: 'error', evidence: `The command did not run: ${end.error?.message ?? end.status}.`, by: 'rule' };
  const evidence = tail(result.forUser === '' ? result.forModel : result.forUser);
  if (result.outcome === 'ok' || result.outcome === 'error')
    return { verdict: result.outcome === 'ok' ? 'pass' : 'fail', evidence, by: 'rule' };
  return { verdict: 'error', evidence: `The command ended as ${result.outcome}. ${evidence}`.trim(), by: 'rule' };
}

function resultOf(
  log: SessionLog,
  { sessionId, turnId }: { readonly sessionId: string; readonly turnId: string },
): EventBodies['tool.finished'] | null {
  const firstSeq = log.index.turn(turnId)?.firstSeq ?? 0;
  return log.reads.turn(sessionId, turnId, firstSeq).findLast((event) => event.type === 'tool.finished')?.body ?? null;
}

async function checkByJudge(
  deps: CriteriaDeps,
  criterion: Extract<Criterion, { judge: string }>,
  work: Checked,
  signal: AbortSignal,
): Promise<Verdict> {
  const model = criterion.model ?? work.judge();
  if (model === null) return { verdict: 'error', evidence: 'There is no model to judge with.', by: 'judge' };
  const place = { sessionId: work.sessionId, turnId: work.turnId, continues: [] };
  const question = { model, place, goal: work.goal, rubric: criterion.judge, work: workText(deps, work) };
  const judged = await judgeFirmly(deps.asking, question, signal);
  const spent = judged.spent === undefined ? {} : { spent: judged.spent };
  if ('error' in judged) {
    return { verdict: 'error', evidence: deps.redactPrompt(`There is no usable judgement: ${judged.error}`), by: model, ...spent };
  }
  const evidence = judged.points.map(
    ({ point, met, quote, why }) => `${met ? 'met' : 'not met'}: ${point}\n${quote === '' ? '' : `"${quote}" `}${why}`,
  );
  return { verdict: judged.score === 1 ? 'pass' : 'fail', evidence: deps.redactPrompt(tail(evidence.join('\n'))), by: model, ...spent };
}

function workText(deps: CriteriaDeps, { answer, deliverables, folder }: Checked): string {
  const files = deliverables.map((path) => {
    const read = readFound(folder, path, deps.isProtected);
    return `File ${path}:\n${'problem' in read ? `(${read.problem})` : read.text.slice(0, DELIVERED_CHARS_MAX)}`;
  });
  return [`Answer:\n${answer}`, ...files].join('\n\n');
}

function tail(text: string): string {
  return text.length <= EVIDENCE_CHARS_MAX ? text : `… ${text.slice(-EVIDENCE_CHARS_MAX)}`;
}

const FILE_BYTES_MAX = 2_000_000;

/** `problem` says why the file cannot be used. */
type FoundFile = { readonly path: string; readonly sizeBytes: number } | { readonly problem: string };

/** `isKept` returns whether the file is protected, such as a key, so that only a person may read it. */
function findFile(folder: string, given: string, isKept: (real: string) => boolean): FoundFile {
  try {
    const real = realpathSync(resolve(folder, given));
    if (!isInside(real, realpathSync(folder))) return { problem: `${given} leads out of the folder of the task` };
    if (isKept(real)) return { problem: `${given} is protected and is not read` };
    const stat = statSync(real);
    return stat.isFile() ? { path: real, sizeBytes: stat.size } : { problem: `${given} is not a file` };
  } catch {
    return { problem: `there is no file ${given}` };
  }
}

function readFound(
  folder: string,
  given: string,
  isKept: (real: string) => boolean,
): { readonly text: string } | { readonly problem: string } {
  const found = findFile(folder, given, isKept);
  if ('problem' in found) return found;
  if (found.sizeBytes > FILE_BYTES_MAX) return { problem: `${given} is larger than ${FILE_BYTES_MAX} bytes` };
  return { text: readFileSync(found.path, 'utf8') };
}
