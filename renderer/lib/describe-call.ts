// A tool call as one line: a verb in the right tense and what it was done to. Wording only; facts stay in the card.

import { isPlainObject, parseJson } from '../../core/base/json.ts';
import { oneLine } from './format.ts';
import type { CallState } from './fold/turn.ts';

interface Wording {
  readonly past: string;
  readonly present: string;
  readonly base: string;
  /** Which argument names the target. */
  readonly target: readonly string[];
}

const file = ['path', 'file', 'file_path'];

const wordings: Readonly<Record<string, Wording>> = {
  read_file: { past: 'Read', present: 'Reading', base: 'read', target: file },
  write_file: { past: 'Wrote', present: 'Writing', base: 'write', target: file },
  edit_file: { past: 'Edited', present: 'Editing', base: 'edit', target: file },
  append_file: { past: 'Appended to', present: 'Appending to', base: 'append to', target: file },
  list_dir: { past: 'Listed', present: 'Listing', base: 'list', target: ['path', 'dir'] },
  glob: { past: 'Looked for', present: 'Looking for', base: 'look for', target: ['pattern'] },
  grep: { past: 'Searched for', present: 'Searching for', base: 'search for', target: ['pattern', 'query'] },
  exec: { past: 'Ran', present: 'Running', base: 'run', target: ['command', 'cmd', 'line'] },
  web_fetch: { past: 'Fetched', present: 'Fetching', base: 'fetch', target: ['url'] },
  web_search: { past: 'Searched the web for', present: 'Searching the web for', base: 'search the web for', target: ['query'] },
  http_request: { past: 'Requested', present: 'Requesting', base: 'request', target: ['url'] },
  artifact_read: { past: 'Read artifact', present: 'Reading artifact', base: 'read artifact', target: ['artifact'] },
  session_search: { past: 'Searched sessions for', present: 'Searching sessions for', base: 'search sessions for', target: ['query'] },
  calc: { past: 'Calculated', present: 'Calculating', base: 'calculate', target: ['expression'] },
  message: { past: 'Sent', present: 'Sending', base: 'send', target: ['text', 'to'] },
};

export interface CallLine {
  readonly verb: string;
  readonly target: string;
}

export function describeCall(tool: string, args: string, state: CallState): CallLine {
  const wording = wordings[tool];
  const values = parseArguments(args);
  if (wording === undefined) return { verb: tool === '' ? 'A call' : tool, target: firstText(values) };
  const named = wording.target.map((key) => values[key]).find((value) => typeof value === 'string');
  const target = typeof named === 'string' ? oneLine(named, 200) : firstText(values);
  return { verb: verbFor(wording, state), target: target === '.' ? 'this folder' : target };
}

/** The arguments by name; empty where they are not a JSON object. */
export function parseArguments(args: string): Record<string, unknown> {
  const parsed = parseJson(args);
  return parsed.ok && isPlainObject(parsed.value) ? parsed.value : {};
}

function verbFor(wording: Wording, state: CallState): string {
  if (state === 'ok') return wording.past;
  if (state === 'running') return wording.present;
  if (state === 'waiting' || state === 'proposed') return `Wants to ${wording.base}`;
  if (state === 'denied' || state === 'skipped') return `Did not ${wording.base}`;
  if (state === 'unknown') return `May have tried to ${wording.base}`;
  return `Tried to ${wording.base}`;
}

function firstText(values: Record<string, unknown>): string {
  const first = Object.values(values).find((value) => typeof value === 'string' || typeof value === 'number');
  return first === undefined ? '' : oneLine(String(first), 200);
}
