// Collects the files of a report from the state of the program. They contain only numbers, the program's own keywords and sentences it
// wrote. Messages are included only if a person names the conversation.

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { arch, freemem, homedir, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { objectIn } from '../../base/json.ts';
import { configSchema } from '../../contracts/config.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { escapeRegExp, Redactor } from '../../guard/safety/safety.ts';
import type { Spine } from '../feature.ts';

export interface CollectDeps extends Pick<Spine, 'home' | 'config' | 'clock' | 'log' | 'safety' | 'version' | 'environment'> {
  readonly check: () => Promise<OpResult<'health.check'>>;
}

export interface ReportFile {
  readonly name: string;
  readonly text: string;
}

const EVENTS_READ = 20_000;
const ERRORS_MAX = 200;
const LOG_BYTES_MAX = 400_000;
const LOG_LINES_MAX = 1_000;
const SESSION_EVENTS_MAX = 2_000;

/** Checks that name what people called their tasks, programs, chats and plugins. */
const namesOthers: ReadonlySet<string> = new Set(['schedules', 'heartbeat', 'doors', 'plugins']);
const ADDRESS = /\bhttps?:\/\/[^\s"'\\)]+/g;
const PLACE = /(?<![\w.)/])(?:[A-Za-z]:(?:[/\\]+[\w.@+-]+)+|(?:\/[\w.@+-]+){2,})/g;

const about = `This report was made by TrayClaw for a bug report. Nothing was sent anywhere.

It holds the version, the result of the health check, the form of the settings, the codes of recent errors and the lines of the
program's own log without their details. Keys, names, addresses, paths and messages are left out or replaced.
`;

export async function collectReport(deps: CollectDeps, sessionId: string | null): Promise<readonly ReportFile[]> {
  const clean = cleanerOf(deps);
  const nameless = namelessOf(deps.config, clean);
  const json = (name: string, value: unknown, by = nameless): ReportFile => ({ name, text: `${by(JSON.stringify(value, null, 2))}\n` });
  const { checks } = await deps.check();
  const { version, log, config, home, clock } = deps;
  const machine = { platform: platform(), arch: arch(), release: release(), memoryMB: Math.round(totalmem() / 1e6), freeMB: Math.round(freemem() / 1e6) }; // prettier-ignore
  const { node, electron, v8 } = process.versions;
  const program = { version, node, electron: electron ?? null, v8, events: log.lastSeq, madeAt: new Date(clock.nowMs()).toISOString() };
  return [
    { name: 'about.txt', text: about },
    json('versions.json', { program, machine }),
    json(
      'health.json',
      checks.map(({ id, ok, detail, fix }) =>
        namesOthers.has(id) ? { id, ok } : { id, ok, detail, ...(fix === undefined ? {} : { fix }) },
      ),
    ),
    json('settings.json', plainValue(config)),
    json('errors.json', recentErrors(deps)),
    { name: 'log.txt', text: nameless(logLines(join(home, 'logs', 'trayclaw.log')).join('\n')) },
    ...(sessionId === null ? [] : [json('conversation.json', log.reads.slice(sessionId, { limit: SESSION_EVENTS_MAX }), clean)]),
  ];
}

function recentErrors({ log }: CollectDeps): unknown[] {
  const from = Math.max(0, log.lastSeq - EVENTS_READ);
  const { events } = log.reads.afterOfTypes(from, EVENTS_READ, ['turn.finished', 'model.failed', 'model.retried']);
  const failed = events.flatMap((event) => {
    if (event.type !== 'turn.finished' && event.type !== 'model.failed' && event.type !== 'model.retried') return [];
    const { seq, type, atMs, body } = event;
    return body.error === null ? [] : [{ seq, type, at: new Date(atMs).toISOString(), code: body.error.code }];
  });
  return failed.slice(-ERRORS_MAX);
}

function logLines(path: string): string[] {
  const lines = endOf(path).split('\n').filter((line) => line !== '').slice(-LOG_LINES_MAX); // prettier-ignore
  return lines.flatMap((line) => {
    const entry = objectIn(line);
    // The first line may be cut off.
    if (entry === null) return [];
    const { at, level, message, data } = entry;
    const details =
      data === undefined ? [] : [JSON.stringify(plainValue(data)), ...framesOf(textsOf(data).join('\n')).map((frame) => `  at ${frame}`)];
    return [`${String(at)} ${String(level)} ${String(message)}`, ...details];
  });
}

function endOf(path: string): string {
  if (!existsSync(path)) return '';
  const handle = openSync(path, 'r');
  try {
    const { size } = fstatSync(handle);
    const bytes = Buffer.alloc(Math.min(size, LOG_BYTES_MAX));
    return bytes.toString('utf8', 0, readSync(handle, bytes, 0, bytes.length, size - bytes.length));
  } finally {
    closeSync(handle);
  }
}

/** Redacts known secrets in all their forms, personal data, and the names of this person's folders. */
function cleanerOf({ safety, home, environment }: CollectDeps): (text: string) => string {
  const personal = new Redactor({ personal: ['card', 'iban', 'email', 'phone'] });
  const inJson = (path: string): string => JSON.stringify(path).slice(1, -1);
  const places: readonly (readonly [string, string])[] = [
    [inJson(home), '(data folder)'],
    [inJson(homedir()), '~'],
    ...[environment['USER'], environment['USERNAME'], environment['HOSTNAME']].flatMap((name) => (name !== undefined && name.length > 3 ? [[name, '(name)'] as const] : [])), // prettier-ignore
  ];
  return (text) => places.reduce<string>((so, [from, to]) => so.replaceAll(from, to), personal.redact(safety.redact(text).text).text);
}

/** Replaces addresses, places, and what the person wrote into the settings. */
function namelessOf(config: CollectDeps['config'], clean: (text: string) => string): (text: string) => string {
  const own = new Set(textsOf(z.toJSONSchema(configSchema, { io: 'input' })));
  const names = chosenNames(config, own).map((name) => escapeRegExp(clean(JSON.stringify(name).slice(1, -1))));
  const chosen = new RegExp(`(?<![\\w-])(?:${names.join('|')})(?![\\w-])`, 'g');
  return (text) => {
    const known = names.length === 0 ? clean(text) : clean(text).replace(chosen, '(name)');
    return known.replace(ADDRESS, '(address)').replace(PLACE, '(path)');
  };
}

const DEPTH_MAX = 8;
const ENTRIES_MAX = 100;
const FRAMES_MAX = 20;

/** Matches modes and kinds such as `workspace-free` and `openai-compatible`. Longer text, or other characters, may be a name or a key. */
const isWord = (text: string): boolean => /^[a-z][a-z-]{0,23}$/.test(text);

function plainValue(value: unknown, depth = 0): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return isWord(value) ? value : `(${value.length} characters)`;
  if (typeof value !== 'object' || depth > DEPTH_MAX) return '(left out)';
  if (Array.isArray(value)) return value.slice(0, ENTRIES_MAX).map((one) => plainValue(one, depth + 1));
  const entries = Object.entries(value).slice(0, ENTRIES_MAX);
  const nameOf = (key: string, at: number): string => (/^[a-z][A-Za-z]{0,30}(?:\d[A-Za-z]+)?$/.test(key) ? key : `(name ${at + 1})`);
  return Object.fromEntries(entries.map(([key, one], at) => [nameOf(key, at), plainValue(one, depth + 1)]));
}

/** The stack frames of an error, without its message. */
function framesOf(text: string): readonly string[] {
  const frames = text.split('\n').flatMap((line) => /^\s+at .*?([\w.-]+\.[cm]?[jt]s:\d+:\d+)\)?$/.exec(line)?.[1] ?? []);
  return frames.slice(0, FRAMES_MAX);
}

/** Every key and text in a value. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return typeof value === 'object' && value !== null ? Object.entries(value).flatMap(([key, one]) => [key, ...textsOf(one)]) : [];
}

const NAME_CHARS_MIN = 3;

/** The texts in the settings that are not words of the program, without the names of models. The longest come first. */
function chosenNames(settings: unknown, own: ReadonlySet<string>): readonly string[] {
  const texts = textsOf(settings).flatMap((text) => [text, text.replace(/^(?:env|keychain|file):/, ''), URL.parse(text)?.hostname ?? '']);
  const names = new Set(texts.filter((text) => text.length >= NAME_CHARS_MIN && !own.has(text)));
  return [...names].filter((name) => !/^[^/]+\//.test(name) || !names.has(name.split('/')[0] ?? '')).sort((a, b) => b.length - a.length);
}
