// A tool call as one line: a verb in the right tense and what it was done to. Wording only; facts stay in the card.

import { isPlainObject, parseJson } from '../../core/base/json.ts';
import { oneLine } from './format.ts';
import type { CallState } from '../../core/contracts/turn-view.ts';
import type { Words } from './i18n/words.ts';

type ChatWords = Words['chat'];
type KnownTool = keyof ChatWords['verbs'];

const file = ['path', 'file', 'file_path'];

/** Which argument names the target. */
const targets: Readonly<Record<KnownTool, readonly string[]>> = {
  read_file: file,
  write_file: file,
  edit_file: file,
  append_file: file,
  list_dir: ['path', 'dir'],
  glob: ['pattern'],
  grep: ['pattern', 'query'],
  exec: ['command', 'cmd', 'line'],
  web_fetch: ['url'],
  web_search: ['query'],
  http_request: ['url'],
  artifact_read: ['artifact'],
  session_search: ['query'],
  calc: ['expression'],
  message: ['text', 'to'],
  subagent: ['label', 'task'],
  spawn: ['label', 'task'],
  spawn_status: ['job_id'],
  spawn_cancel: ['job_id'],
  remember: ['text'],
  recall: ['query'],
  knowledge_search: ['query'],
  skill: ['name', 'query'],
  tasks: ['text', 'action'],
  schedule: ['prompt', 'scheduleId'],
  open_workspace: ['path'],
};

export interface CallLine {
  readonly verb: string;
  readonly target: string;
}

export interface DescribedCall {
  readonly tool: string;
  readonly args: string;
  readonly state: CallState;
}

export function describeCall({ tool, args, state }: DescribedCall, words: ChatWords): CallLine {
  const values = parseArguments(args);
  if (!isKnown(tool)) return { verb: tool === '' ? words.unnamedCall : tool, target: firstText(values) };
  const named = targets[tool].map((key) => values[key]).find((value) => typeof value === 'string');
  const target = typeof named === 'string' ? oneLine(named, 200) : firstText(values);
  return { verb: verbFor(tool, state, words), target: target === '.' ? words.thisFolder : target };
}

/** The arguments by name; empty where they are not a JSON object. */
export function parseArguments(args: string): Record<string, unknown> {
  const parsed = parseJson(args);
  return parsed.ok && isPlainObject(parsed.value) ? parsed.value : {};
}

function isKnown(tool: string): tool is KnownTool {
  return Object.hasOwn(targets, tool);
}

function verbFor(tool: KnownTool, state: CallState, words: ChatWords): string {
  const { past, present, base } = words.verbs[tool];
  if (state === 'ok') return past;
  if (state === 'running') return present;
  if (state === 'waiting' || state === 'proposed') return words.wantsTo(base);
  if (state === 'denied' || state === 'skipped') return words.didNot(base);
  if (state === 'unknown') return words.mayHave(base);
  return words.triedTo(base);
}

function firstText(values: Record<string, unknown>): string {
  const first = Object.values(values).find((value) => typeof value === 'string' || typeof value === 'number');
  return first === undefined ? '' : oneLine(String(first), 200);
}
