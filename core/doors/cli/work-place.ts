// Determines the destination of a message from the command line: the current or a named folder, and the session to continue. Asks a person
// at the terminal once about an untrusted folder. Without a person, an untrusted current folder is ignored.

import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { givenPath } from '../../base/given-path.ts';
import { isInside } from '../../base/inside-folder.ts';
import { revealed } from '../../base/visible-text.ts';
import type { Claw } from '../../contracts/claw.ts';
import type { DoorName } from '../../contracts/doors.ts';
import { AppError } from '../../contracts/errors.ts';
import type { SessionInfo } from '../../contracts/op-results.ts';
import type { OpParams, OpResult } from '../../contracts/ops.ts';
import type { CommandContext } from './command-context.ts';
import type { LineReader } from './line-reader.ts';
import { isInsideTool } from './person-only.ts';

export interface PlaceOptions {
  readonly session?: string;
  readonly cwd?: string;
  readonly continue?: boolean;
}

export type MessagePlace = Pick<OpParams<'message.send'>, 'sessionId' | 'workspace'>;

type Look = OpResult<'workspace.look'>;

/** The channels of a person at this machine. --continue ignores sessions of chats, schedules and signals. */
const ownChannels: ReadonlySet<string> = new Set<DoorName>(['cli', 'window', 'http', 'library']);
const SESSIONS_MAX = 200;

/** Fails with `invalid_params`, `not_found` (no such folder or session, nothing to continue) or `conflict`. */
export async function choosePlace(
  context: CommandContext,
  options: PlaceOptions,
  { claw, lines }: { readonly claw: Claw; readonly lines: LineReader | null },
): Promise<MessagePlace> {
  if (options.session !== undefined && options.continue === true)
    throw new AppError('invalid_params', 'Give either --session or --continue.');
  if (options.session === '') throw new AppError('invalid_params', '--session must not be empty.');
  const named = options.cwd === undefined ? {} : { workspace: givenPath(context.io, options.cwd) };
  // A session that is named must be there: a slip of the pen begins no new conversation. It keeps its folder; the runtime rejects another.
  if (options.session !== undefined) {
    await claw.op('session.get', { sessionId: options.session, limit: 1 });
    return { sessionId: options.session, ...named };
  }
  const workspace = named.workspace ?? (await chooseFolder(context, claw, lines));
  if (options.continue !== true) return workspace === null ? {} : { workspace };
  return { sessionId: await findNewest(claw, workspace) };
}

async function chooseFolder(context: CommandContext, claw: Claw, lines: LineReader | null): Promise<string | null> {
  // Inside a tool the folder does not change, because only a person may open another one.
  if (isInsideTool(context.io.env)) return null;
  const look = await claw.op('workspace.look', { path: context.io.cwd });
  if (look.state === 'trusted') return look.path;
  if (look.state === 'configured' || look.state === 'data' || look.state === 'missing') return null;
  const { configured } = await claw.op('workspace.list', {});
  if (lines !== null && look.state !== 'refused') return askToTrust(context, claw, { lines, look, configured });
  const why = look.state === 'refused' ? look.reason : `To work in ${look.path}, add --cwd .`;
  context.output.note(`Working in ${revealed(configured)}. ${revealed(why)}`);
  return null;
}

/** Silence and Enter mean no. The work then continues in the configured workspace. */
async function askToTrust(
  { output }: CommandContext,
  claw: Claw,
  { lines, look, configured }: { readonly lines: LineReader; readonly look: Look; readonly configured: string },
): Promise<string | null> {
  const gone = new AbortController();
  const stopListening = lines.onInterrupt(() => gone.abort());
  try {
    output.say(['', revealed(look.reason), ...look.risks.map((risk) => `- ${revealed(risk)}`)].join('\n'));
    lines.forgetTypedAhead();
    const question = `Let TrayClaw work in ${revealed(look.path)}? [y]es · [n]o, work in ${revealed(configured)} (Enter: no): `;
    const answer = await lines.ask(question, gone.signal);
    if (gone.signal.aborted) throw new AppError('cancelled', 'Nothing was asked.');
    if (!/^y(es)?$/i.test(answer?.trim() ?? '')) return null;
    return (await claw.op('workspace.trust', { path: look.path })).path;
  } finally {
    stopListening();
  }
}

async function findNewest(claw: Claw, folder: string | null): Promise<string> {
  const look = folder === null ? null : await claw.op('workspace.look', { path: folder });
  const workspace = look === null || look.state === 'configured' ? null : look.path;
  const [newest] = await conversations(claw, { workspace });
  if (newest !== undefined) return newest.sessionId;
  throw new AppError('not_found', `There is no session in ${workspace ?? 'the configured workspace'} yet.`, {
    hint: 'Ask without --continue to begin one.',
  });
}

/** The conversations at this machine, the newest first, pinned or not. */
export async function conversations(claw: Claw, where: Pick<OpParams<'session.list'>, 'workspace'>): Promise<SessionInfo[]> {
  const { sessions } = await claw.op('session.list', { ...where, limit: SESSIONS_MAX });
  return sessions.filter(isConversation).sort((a, b) => b.updatedAtMs - a.updatedAtMs);
}

/** Not the session of a direct call. A session that was made for later use has no turn yet. */
function isConversation({ channel, lastText, status }: SessionInfo): boolean {
  return ownChannels.has(channel) && (lastText !== '' || status === null);
}

/** Files named by --file, and files below the current folder that a person at the terminal mentions in the text as @path. */
export function filesOf(context: CommandContext, files: readonly string[], text: string): Pick<OpParams<'message.send'>, 'attachments'> {
  const { cwd } = context.io;
  const named = files.map((path) => givenPath(context.io, path));
  const mentioned = context.hasPerson ? mentionedFiles(text, cwd).filter((path) => !named.includes(path)) : [];
  for (const path of mentioned) context.output.note(`Attached ${revealed(basename(path))}.`);
  const attachments = [...named, ...mentioned].map((path) => ({ path }));
  return attachments.length === 0 ? {} : { attachments };
}

/** An @word that names no file stays text. */
function mentionedFiles(text: string, cwd: string): string[] {
  const words = [...text.matchAll(/(?<=^|\s)@([^\s@]+)/g)].map((match) => resolve(cwd, match[1] ?? ''));
  return [...new Set(words)].filter((path) => isInside(path, cwd) && statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
