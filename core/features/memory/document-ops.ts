// Operations on the person's documents: listing and searching them, and adding or removing the folders, files and texts that are their
// sources. The sources are stored in config.yaml only.

import { isPlainObject } from '../../base/json.ts';
import { AppError, noSuch } from '../../contracts/errors.ts';
import type { OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import { readSettings } from '../../store/config/config.ts';
import type { Settings } from '../../runtime/settings/settings.ts';
import type { Knowledge } from './documents/knowledge.ts';
import type { SourcePlace } from './documents/source-place.ts';

interface Handled {
  readonly knowledge: Pick<Knowledge, 'list' | 'status' | 'search' | 'reindex' | 'countFiles' | 'isIndexing'>;
  /** The state of vector search. */
  readonly embedder: () => OpResult<'knowledge.list'>['embedder'];
  readonly settings: Pick<Settings, 'path' | 'change'>;
  /** Resolves the path a person typed to the place of a source. */
  sourcePlace(path: string): SourcePlace;
}

const LISTED = 100;
const FOUND = 8;

export function createKnowledgeOps(deps: Handled) {
  const { knowledge, embedder } = deps;
  return {
    'knowledge.list': () => ({ sources: knowledge.list(), indexing: knowledge.isIndexing, embedder: embedder() }),
    'knowledge.status': ({ source, limit = LISTED }) => knowledge.status(source, limit),
    'knowledge.search': async ({ query, source, limit = FOUND }, { gone: signal }) => ({
      evidence: await knowledge.search({ query, source, limit, signal }),
      embedder: embedder(),
    }),
    'knowledge.reindex': ({ source }) => knowledge.reindex(source),
    'knowledge.preview': (params) => preview(deps, params),
    'knowledge.add': (params, { actor }) => add(deps, params, actor),
    'knowledge.remove': ({ source }, { actor }) => remove(deps, source, actor),
  } satisfies Partial<OpHandlers>;
}

type Problem = readonly [code: 'not_found' | 'invalid_params' | 'forbidden' | 'conflict', message: string, more?: { hint: string }];

type Place = ReturnType<Handled['sourcePlace']>;

/** Why the place cannot be a source, or null if it can. */
function problemOf({ knowledge }: Handled, { path, kind, isOwn }: Place): Problem | null {
  if (isOwn) return ['forbidden', `${path} is TrayClaw's own data, which is never read as documents.`];
  if (kind === 'missing')
    return [
      'not_found',
      `There is nothing at ${path}, or it cannot be read.`,
      { hint: 'Check how the path is written, and who may read it.' },
    ];
  if (kind === 'other') return ['invalid_params', `${path} is neither a folder nor a file.`];
  const known = knowledge.list().find((source) => source.path === path);
  return known === undefined ? null : ['conflict', `${path} is the source ${known.name} already.`];
}

async function preview(deps: Handled, { path: given, endings }: OpParsed<'knowledge.preview'>): Promise<OpResult<'knowledge.preview'>> {
  const place = deps.sourcePlace(given);
  const { path, isOutside: outside } = place;
  const problem = problemOf(deps, place)?.[1] ?? null;
  const kind = place.kind === 'directory' || place.kind === 'file' ? place.kind : null;
  const nothing = { path, kind, outside, files: 0, more: false };
  if (problem !== null || kind !== 'directory') return { ...nothing, files: problem === null ? 1 : 0, problem };
  const counted = await deps.knowledge.countFiles(path, endings ?? null);
  return { ...nothing, files: counted.files, more: counted.more, problem: counted.problem };
}

async function add(deps: Handled, params: OpParsed<'knowledge.add'>, by: string): Promise<OpResult<'knowledge.add'>> {
  const { name } = params;
  if (deps.knowledge.list().some((source) => source.name === name) || (await settingOf(deps, name)) !== undefined) {
    throw new AppError('conflict', `There is a source ${name} already.`, { hint: 'Take another name, or remove that one first.' });
  }
  const { path, setting } = settingFor(deps, params);
  const { holds } = await deps.settings.change(`knowledge.sources.${name}`, setting, by);
  return { source: name, path, holds };
}

function settingFor(deps: Handled, params: OpParsed<'knowledge.add'>): { path: string | null; setting: Record<string, unknown> } {
  const { path: given, endings, watch, text, title, outside } = params;
  if (given === undefined) return { path: null, setting: { kind: 'inline', ...(title === undefined ? {} : { title }), text } };
  const place = deps.sourcePlace(given);
  const problem = problemOf(deps, place);
  if (problem !== null) throw new AppError(...problem);
  const { path, kind } = place;
  if (kind === 'file' && endings !== undefined) throw new AppError('invalid_params', `${path} is one file; endings are for folders.`);
  if (place.isOutside && outside !== true) {
    throw new AppError(
      'conflict',
      `${path} lies outside of the folders that are open to the agent; as a source it is opened for reading.`,
      {
        data: { needs: 'outside' },
        hint: 'What it holds may then be shown to the agent and its model. Add it with "outside" if that is meant.',
      },
    );
  }
  const more = { ...(endings === undefined ? {} : { endings }), ...(watch === undefined ? {} : { watch }) };
  return { path, setting: { kind, path, ...more } };
}

async function remove(deps: Handled, name: string, by: string): Promise<OpResult<'knowledge.remove'>> {
  const setting = await settingOf(deps, name);
  if (setting === undefined) {
    const names = deps.knowledge.list().map((source) => source.name);
    const hint = 'trayclaw knowledge list shows the sources there are.';
    if (!names.includes(name)) throw noSuch('source', name, names, hint);
    throw new AppError('not_found', `The source ${name} is not in config.yaml.`, { hint });
  }
  const { holds } = await deps.settings.change(`knowledge.sources.${name}`, null, by);
  return { source: name, setting, holds };
}

/** The setting of one source in config.yaml, or undefined. Fails with invalid_config if the file cannot be read. */
async function settingOf({ settings }: Handled, name: string): Promise<Record<string, unknown> | undefined> {
  const { file, problem } = await readSettings(settings.path);
  if (file === null) throw new AppError('invalid_config', problem ?? `${settings.path} cannot be read.`);
  const below = (value: unknown, key: string): unknown => (isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined);
  const setting = ['knowledge', 'sources', name].reduce(below, file);
  return isPlainObject(setting) ? setting : undefined;
}
