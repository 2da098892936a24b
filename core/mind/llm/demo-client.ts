// The offline demo as a model client: streams the decisions of planDemoStep. Uses no network and no language model, and says so.

import { counted } from '../../base/counted.ts';
import { isPlainObject, parseJson } from '../../base/json.ts';
import { demoLabel } from '../../contracts/demo-label.ts';
import { AppError } from '../../contracts/errors.ts';
import { type ChatMessage, type DeltaSink, type ModelClient, type ModelReply, type ModelRequest, noUsage } from '../../contracts/llm.ts';
import { type DemoIntent, readDemoIntent } from './demo-intent.ts';
import { abortReason } from './http-transport.ts';

export const demoModelId = 'offline';

const PIECES_BETWEEN_PAUSES = 8;

export class DemoClient implements ModelClient {
  readonly #nextCallId: () => string;

  constructor(nextCallId: () => string) {
    this.#nextCallId = nextCallId;
  }

  async stream(request: ModelRequest, sink: DeltaSink, signal: AbortSignal): Promise<ModelReply> {
    if (request.modelId !== demoModelId) {
      throw new AppError('model_unknown', `The demo knows one model, "${demoModelId}", not "${request.modelId}".`);
    }
    if (request.output !== undefined) {
      throw new AppError('model_rejected', 'The offline demo has no language model, and it makes up no values.', {
        hint: 'Choose a real model: trayclaw setup, or Settings in the window.',
      });
    }
    const tools = request.tools.map((tool) => tool.name);
    const step = planDemoStep(request.messages, tools);
    await this.#say(step.text, sink, signal);
    const calls = step.call === null ? [] : [{ id: this.#nextCallId(), tool: step.call.tool, args: JSON.stringify(step.call.args) }];
    const finishReason = calls.length === 0 ? 'stop' : 'tool_calls';
    return { text: step.text, reasoning: '', calls, usage: noUsage, usageReported: true, finishReason };
  }

  async #say(text: string, sink: DeltaSink, signal: AbortSignal): Promise<void> {
    let pieces = 0;
    for (const [piece] of text.matchAll(/\s*\S+\s?|\s+$/g)) {
      if (signal.aborted) throw abortReason(signal);
      sink.text(piece);
      pieces += 1;
      if (pieces % PIECES_BETWEEN_PAUSES === 0) await new Promise(setImmediate);
    }
    if (signal.aborted) throw abortReason(signal);
  }
}

// Decides the offline demo's next step from the conversation alone: which tool to call, or what to say. Pure. It invents nothing: its
// reports come from tool results, and every answer says that no language model is in use.

const QUOTED_CHARS_MAX = 4_000;
const FIRST_LINES = 5;

interface DemoStep {
  readonly text: string;
  readonly call: { readonly tool: string; readonly args: Readonly<Record<string, unknown>> } | null;
}

interface DoneCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

interface Turn {
  readonly done: readonly DoneCall[];
  readonly isOffered: (tool: string) => boolean;
}

/** `tools` are the names offered in this request; no other tool is ever called. */
export function planDemoStep(messages: readonly ChatMessage[], tools: readonly string[]): DemoStep {
  const asked = messages.findLastIndex((message) => message.role === 'user');
  const message = messages[asked];
  if (message?.role !== 'user') return say(whatItCan(tools));
  const turn: Turn = { done: readDone(messages.slice(asked + 1)), isOffered: (tool) => tools.includes(tool) };
  const failed = turn.done.findLast((call) => call.isError);
  if (failed !== undefined) return say(`The tool ${failed.tool} did not succeed, so I stop here. It said:\n\n${quote(failed.text)}`);
  return planIntent(readDemoIntent(message.text), turn) ?? say(whatItCan(tools));
}

function planIntent(intent: DemoIntent, turn: Turn): DemoStep | null {
  switch (intent.kind) {
    case 'describe_folder':
      return planFolder(intent, turn);
    case 'read_file':
      return planOneCall(turn, 'read_file', { path: intent.file }, (text) => describeFile(intent.file, text));
    case 'write_file': {
      const args = { path: intent.file, content: intent.content };
      return planOneCall(turn, 'write_file', args, (text) => `Done: ${text.trim()}`);
    }
    case 'calculate':
      return planOneCall(turn, 'calc', { expression: intent.expression }, (text) => `${intent.expression} = ${text.trim()}`);
    case 'search_text': {
      const args = { pattern: intent.pattern, ...(intent.folder === null ? {} : { path: intent.folder }) };
      return planOneCall(turn, 'grep', args, (text) => `Searching for "${intent.pattern}" gave:\n\n${quote(text)}`);
    }
    case 'find_files':
      return planOneCall(turn, 'glob', { pattern: intent.pattern }, (text) => `Files that match ${intent.pattern}:\n\n${quote(text)}`);
    case 'run_command': {
      const args = { action: 'run', command: intent.command };
      return planOneCall(turn, 'exec', args, (text) => `I ran \`${intent.command}\`. It printed:\n\n${quote(text)}`);
    }
    case 'unknown':
      return null;
  }
}

function planFolder(intent: Extract<DemoIntent, { kind: 'describe_folder' }>, turn: Turn): DemoStep {
  const listing = turn.done.find((call) => call.tool === 'list_dir');
  if (listing === undefined) return ask(turn, 'list_dir', { path: intent.folder }, `I list the folder ${intent.folder} first.`);
  if (intent.noteFile === null) return say(`The folder ${intent.folder} holds:\n\n${quote(listing.text)}`);
  const written = turn.done.find((call) => call.tool === 'write_file');
  if (written === undefined) {
    const args = { path: intent.noteFile, content: createNotes(intent.folder, listing.text) };
    return ask(turn, 'write_file', args, `I write what I saw to ${intent.noteFile}.`);
  }
  return say(`Done. I listed ${intent.folder} and wrote ${intent.noteFile}:\n\n${quote(written.text)}`);
}

function planOneCall(turn: Turn, tool: string, args: DoneCall['args'], describe: (result: string) => string): DemoStep {
  const done = turn.done.find((call) => call.tool === tool);
  return done === undefined ? ask(turn, tool, args, `I use the tool ${tool}.`) : say(describe(done.text));
}

function ask(turn: Turn, tool: string, args: DoneCall['args'], text: string): DemoStep {
  if (!turn.isOffered(tool)) return say(`This needs the tool ${tool}, which I was not given, so I cannot do it.`);
  // Only the final answer says that this is the demo.
  return { text, call: { tool, args } };
}

function say(text: string): DemoStep {
  return { text: `${demoLabel} ${text}`, call: null };
}

function createNotes(folder: string, listing: string): string {
  const lines = listing.split('\n').filter((line) => line.trim() !== '');
  const heading = folder === '.' ? 'this folder' : folder;
  return `# Notes on ${heading}\n\nWritten by the offline demo (no language model). The listing had ${counted(lines.length, 'line')}:\n\n${lines.map((line) => `    ${line}`).join('\n')}\n`;
}

function describeFile(file: string, content: string): string {
  const lines = content.split('\n');
  const sizeBytes = Buffer.byteLength(content, 'utf8');
  const first = lines.slice(0, FIRST_LINES).join('\n');
  return `The tool returned ${counted(sizeBytes, 'byte')} in ${counted(lines.length, 'line')} for ${file}. The first lines:\n\n${quote(first)}`;
}

function whatItCan(tools: readonly string[]): string {
  const examples: readonly (readonly [string, string])[] = [
    ['list_dir', 'Describe this folder and write notes.md about it'],
    ['read_file', 'Read README.md'],
    ['write_file', 'Write hello.md with the text: Hello'],
    ['calc', 'Calculate (3 + 4) * 12'],
    ['grep', 'Search for "TODO" in src/'],
    ['glob', 'Find all *.md files'],
    ['exec', 'Run `git status`'],
  ];
  const usable = examples.filter(([tool]) => tools.includes(tool)).map(([, example]) => `- ${example}`);
  const list =
    usable.length === 0
      ? 'No tools were offered to me, so I can do nothing here.'
      : `What I can do, with real tools:\n${usable.join('\n')}`;
  return `I only understand a few fixed kinds of tasks, and this is not one of them.\n\n${list}\n\nFor anything else choose a real model: trayclaw setup, or Settings in the window.`;
}

/** The calls since the newest user message that have a result, in order. */
function readDone(messages: readonly ChatMessage[]): DoneCall[] {
  const args = new Map<string, string>();
  const done: DoneCall[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') for (const call of message.calls) args.set(call.id, call.args);
    if (message.role !== 'tool') continue;
    const parsed = parseJson(args.get(message.id) ?? '{}');
    const given = parsed.ok && isPlainObject(parsed.value) ? parsed.value : {};
    done.push({ tool: message.tool, args: given, text: message.text, isError: message.isError });
  }
  return done;
}

function quote(text: string): string {
  const cut = text.length > QUOTED_CHARS_MAX ? text.slice(0, QUOTED_CHARS_MAX) + '\n… (cut)' : text;
  return '```\n' + cut.replaceAll('```', "'''").trimEnd() + '\n```';
}
