// Answers a shell's completion request: ids and names of one kind, one per line, with a tab before the description. Asks a running instance
// and never starts one; prints nothing on an error or a delay. Loads as little as possible, because a person is waiting.

import { request } from 'node:http';
import { homedir } from 'node:os';
import { isPlainObject, jsonIn, valueAt } from '../core/base/json.ts';
import type { OpName } from '../core/contracts/ops.ts';
import { isOwnSocket, readInstanceFile, resolveHome } from '../core/store/home/home.ts';

/** Time limit for the whole process, including its start-up. */
const WITHIN_MS = 200;
/** Minimum time an instance gets to answer, even if this process started slowly. */
const ANSWER_MS_MIN = 80;
const REPLY_BYTES_MAX = 4_000_000;
const ABOUT_CHARS_MAX = 60;

interface Kind {
  readonly op: OpName;
  readonly params: Readonly<Record<string, unknown>>;
  /** The name of the list in the result, and the names of the fields in each entry. */
  readonly list: string;
  readonly id: string;
  readonly about: string;
}

const kinds: Readonly<Record<string, Kind>> = {
  session: { op: 'session.list', params: { limit: 100 }, list: 'sessions', id: 'sessionId', about: 'title' },
  agent: { op: 'agent.list', params: {}, list: 'agents', id: 'agentId', about: 'description' },
  skill: { op: 'skill.list', params: {}, list: 'skills', id: 'name', about: 'description' },
  schedule: { op: 'schedule.list', params: {}, list: 'schedules', id: 'scheduleId', about: 'name' },
  approval: { op: 'approval.list', params: {}, list: 'approvals', id: 'approvalId', about: 'summary' },
  grant: { op: 'grant.list', params: {}, list: 'grants', id: 'grantId', about: 'covers' },
  memory: { op: 'memory.list', params: { limit: 100 }, list: 'memories', id: 'memoryId', about: 'text' },
};

/** `__complete KIND [--home FOLDER]`. Ends the process in time, even with work pending. */
export async function complete([kind, option, folder]: readonly string[]): Promise<void> {
  // AbortSignal.timeout rejects fractions of a millisecond.
  const leftMs = Math.max(ANSWER_MS_MIN, Math.ceil(WITHIN_MS - performance.now()));
  setTimeout(() => process.exit(0), leftMs);
  const sources = { env: process.env, cwd: process.cwd(), platform: process.platform, userFolder: homedir() };
  const home = resolveHome(option === '--home' ? folder : undefined, sources);
  const lines = await findLines(kind, home, AbortSignal.timeout(leftMs));
  process.stdout.write(lines, () => process.exit(0));
}

/** Resolves to the lines; to an empty string if no instance runs, the kind is unknown, or no answer arrives in time. */
async function findLines(kind: string | undefined, home: string, signal: AbortSignal): Promise<string> {
  const wanted = kind !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  const record = readInstanceFile(home);
  if (wanted === undefined || record === null || !isOwnSocket(record.socketPath)) return '';
  try {
    return linesIn(jsonIn(await askInstance(wanted, record, signal)), wanted);
  } catch {
    // The instance is gone, hangs or is too slow: the shell then offers nothing.
    return '';
  }
}

function askInstance(
  { op, params }: Kind,
  at: { readonly socketPath: string; readonly token: string },
  signal: AbortSignal,
): Promise<string> {
  const body = JSON.stringify(params);
  const headers = { authorization: `Bearer ${at.token}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const asked = request(
      { socketPath: at.socketPath, method: 'POST', path: `/api/ops/${op}`, headers, agent: false, signal },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          if (text.length > REPLY_BYTES_MAX) response.destroy(new Error('The answer is too long.'));
        });
        response.on('end', () => resolve(text));
        response.on('error', reject);
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

function linesIn(reply: unknown, { list, id, about }: Kind): string {
  const entries = valueAt(reply, `result.${list}`);
  if (!Array.isArray(entries)) return '';
  return entries
    .filter(isPlainObject)
    .flatMap((entry) => lineOf(entry[id], entry[about]))
    .join('');
}

/**
 * Returns the line only if every shell reads the id as one word. Removes everything from the description that could move a cursor or end
 * the line.
 */
function lineOf(id: unknown, about: unknown): string[] {
  if (typeof id !== 'string' || !/^[\w.][\w.:@-]{0,99}$/.test(id)) return [];
  const words = typeof about === 'string' ? about.replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim() : '';
  return [`${id}\t${[...words].slice(0, ABOUT_CHARS_MAX).join('')}\n`];
}
