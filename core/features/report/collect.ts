// Collects the files of a report from the state of the program. They contain only numbers, the program's own keywords and sentences it
// wrote. Messages are included only if a person names the conversation.

import { existsSync, openSync, closeSync, fstatSync, readSync } from 'node:fs';
import { arch, platform, release, homedir, totalmem, freemem } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import { configSchema } from '../../contracts/config.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { Spine } from '../feature.ts';
import { escapeRegExp, Redactor } from '../../guard/safety/safety.ts';
import { chosenNames, framesOf, plainValue, textsOf } from './plain-values.ts';

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
    const json = parseJson(line);
    // The first line may be cut off.
    if (!json.ok || typeof json.value !== 'object' || json.value === null) return [];
    const { at, level, message, data } = json.value as Readonly<Record<string, unknown>>;
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
