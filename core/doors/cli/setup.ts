// `setup`: the first questions at a terminal, or the same by options for scripts. A provider is tested with a real request before anything
// is written, and everything is written in one step at the end, so that an interrupted set-up leaves nothing behind.

import { givenPath } from '../../base/given-path.ts';
import type { Claw } from '../../contracts/claw.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { ProviderDraft } from '../../contracts/provider-ops.ts';
import type { CommandContext } from './command-context.ts';
import type { Connection } from './connect.ts';
import { exitCodes } from './exit-code.ts';
import { draftOf } from './first-contact.ts';
import { openVault, readSecret } from './secrets.ts';
import { askLine, chooseFrom } from './questions.ts';

interface SetupOptions {
  readonly provider?: string;
  readonly keyEnv?: string;
  readonly keyStdin?: boolean;
  readonly baseUrl?: string;
  readonly file?: string;
  readonly model?: string;
  readonly workspace?: string;
  readonly yes?: boolean;
}

type Tried = OpResult<'provider.try'>;
type Preset = OpResult<'model.presets'>['presets'][number];

/** The goal of the set-up: a provider, or a model that needs none. */
type Wish = { readonly kind: 'provider'; readonly draft: ProviderDraft } | { readonly kind: 'model'; readonly ref: string };

export function setup(context: CommandContext, options: SetupOptions): Promise<number> {
  return context.withClaw('any', (connection) => setUp(context, connection, options));
}

async function setUp(context: CommandContext, connection: Connection, options: SetupOptions): Promise<number> {
  const { claw } = connection;
  const { output } = context;
  if (options.provider === undefined && !context.hasPerson) throw await nobodyToAsk(claw);
  const isAsked = options.provider === undefined;
  const wish = isAsked ? await askWish(context, claw) : await namedWish(context, claw, options);
  const done =
    wish.kind === 'model' ? await useModel(claw, wish.ref, options) : await setUpProvider(context, connection, wish.draft, options);
  if (done === null) return exitCodes.failed;
  if (done === 'shown') return exitCodes.waiting;
  const workspace = await setWorkspace(context, claw, isAsked ? { ...options, asks: true } : options);
  output.result({ ...done, ...(workspace === null ? {} : { workspace }) }, () =>
    [
      `${done.model} answers from now on. Written to ${done.path}.`,
      ...done.warnings,
      `Next: ${context.program} ask "What can you do?"`,
    ].join('\n'),
  );
  return exitCodes.done;
}

async function nobodyToAsk(claw: Claw): Promise<AppError> {
  const { offers } = await claw.op('model.list', {});
  const [offer] = offers;
  const how =
    offer === undefined
      ? 'trayclaw setup --provider openai --key-env OPENAI_API_KEY --yes'
      : `trayclaw setup --provider ${offer.preset} --key-env ${offer.variable} --yes`;
  return new AppError('invalid_params', 'There is no terminal to ask questions at.', { hint: `Say everything at once: ${how}` });
}

async function wishOf(context: CommandContext, claw: Claw, options: SetupOptions): Promise<Wish> {
  const { provider = '', keyEnv, keyStdin, baseUrl } = options;
  if (provider === 'demo') return { kind: 'model', ref: 'demo/offline' };
  const { presets } = await claw.op('model.presets', {});
  const { offers } = await claw.op('model.list', {});
  const preset = presets.find(({ id }) => id === provider);
  const offered = offers.find((offer) => offer.preset === provider && (keyEnv === undefined || offer.variable === keyEnv));
  const address = baseUrl ?? offered?.baseUrl ?? preset?.baseUrl ?? null;
  if (preset === undefined && address === null)
    throw new AppError('invalid_params', `"${provider}" is none of the known providers.`, {
      hint: `Known are: ${[...presets.map(({ id }) => id), 'demo'].join(', ')}. Any other needs its address: --base-url URL`,
    });
  assertKey(preset, options);
  const key =
    keyEnv !== undefined ? { apiKey: `env:${keyEnv}` } : keyStdin === true ? { key: await readSecret(context, 'Key (not shown): ') } : {};
  return {
    kind: 'provider',
    draft: { name: provider, kind: preset?.kind ?? 'openai-compatible', ...(address === null ? {} : { baseUrl: address }), ...key },
  };
}

/** Local servers need no key. */
function assertKey(preset: Preset | undefined, { keyEnv, keyStdin }: SetupOptions): void {
  if (preset === undefined || preset.keyVariable === null || keyEnv !== undefined || keyStdin === true) return;
  throw new AppError('invalid_params', `${preset.title} needs a key.`, {
    hint: `Name the variable that holds it: --key-env ${preset.keyVariable}; or give it on standard input: --key-stdin`,
  });
}

function namedWish(context: CommandContext, claw: Claw, options: SetupOptions): Wish | Promise<Wish> {
  const { provider = '', file } = options;
  return file === undefined ? wishOf(context, claw, options) : fileWish(context, provider, file);
}

/** A GGUF file on this computer, by its path. */
function fileWish({ io }: CommandContext, name: string, file: string): Wish {
  if (file.trim() === '') throw new AppError('invalid_params', 'No file was named.');
  const path = givenPath(io, file);
  return { kind: 'provider', draft: { name, kind: 'embedded', file: path } };
}

async function askWish(context: CommandContext, claw: Claw): Promise<Wish> {
  context.output.say('Looking for keys and model servers…');
  const [{ models, offers }, { presets }] = await Promise.all([claw.op('model.list', { look: true }), claw.op('model.presets', {})]);
  const sources = [...new Set(models.filter(({ source }) => source.includes('://')).map(({ source }) => source))];
  const choices: { readonly words: string; readonly wish: () => Wish | Promise<Wish> }[] = [
    ...offers.map((offer) => ({
      words: `${offer.title}, with the key in ${offer.variable}`,
      wish: (): Wish => ({ kind: 'provider', draft: draftOf(offer) }),
    })),
    ...sources.map((source) => ({
      words: source,
      wish: async (): Promise<Wish> => ({
        kind: 'model',
        ref: await askModel(
          context,
          models.filter((model) => model.source === source).map(({ ref }) => ref),
        ),
      }),
    })),
    { words: 'Paste a key', wish: async () => ({ kind: 'provider' as const, draft: await askDraft(context, presets) }) },
    {
      words: 'A GGUF file on this computer, without a server',
      wish: async () => fileWish(context, 'file', await askLine(context, 'Path of the file: ')),
    },
    { words: 'The offline demo, without a model', wish: () => ({ kind: 'model' as const, ref: 'demo/offline' }) },
  ];
  const chosen = await chooseFrom(
    context,
    'What should answer?',
    choices.map(({ words }) => words),
  );
  const choice = choices[chosen];
  if (choice === undefined) throw new AppError('internal', 'No such choice.');
  return choice.wish();
}

async function askDraft(context: CommandContext, presets: readonly Preset[]): Promise<ProviderDraft> {
  const withKey = presets.filter(({ keyName }) => keyName !== null);
  const chosen = await chooseFrom(context, 'Whose key is it?', [...withKey.map(({ title }) => title), 'Another, OpenAI-compatible']);
  const preset = withKey[chosen];
  // Azure and Bedrock have no fixed address: it contains the name of the person's resource or region.
  const hasAddress = preset !== undefined && (preset.kind !== 'openai-compatible' || preset.baseUrl !== null);
  const baseUrl = hasAddress ? preset.baseUrl : await askLine(context, 'Address, usually ending in /v1: ');
  if (preset?.keyUrl !== undefined && preset.keyUrl !== null) context.output.say(`Keys are made at ${preset.keyUrl}`);
  const key = await readSecret(context, 'Key (not shown): ');
  return { name: preset?.id ?? 'other', kind: preset?.kind ?? 'openai-compatible', ...(baseUrl === null ? {} : { baseUrl }), key };
}

interface Done {
  readonly provider: string;
  readonly model: string;
  readonly path: string;
  readonly warnings: readonly string[];
}

async function useModel(claw: Claw, ref: string, { model }: SetupOptions): Promise<Done> {
  const chosen = model === undefined ? ref : `${ref.slice(0, ref.indexOf('/'))}/${model}`;
  const { path, warnings } = await claw.op('config.set', { key: 'models.default', value: chosen });
  return { provider: chosen.slice(0, chosen.indexOf('/')), model: chosen, path, warnings };
}

/** Null if the provider does not work; nothing was written then. */
async function setUpProvider(
  context: CommandContext,
  connection: Connection,
  provider: ProviderDraft,
  options: SetupOptions,
): Promise<Done | 'shown' | null> {
  const { claw } = connection;
  const { output } = context;
  output.note(`Asking ${provider.name}…`);
  let tried = await claw.op('provider.try', { provider, ...(options.model === undefined ? {} : { modelId: options.model }) });
  if (options.provider === undefined && tried.models.length > 1) tried = await tryOther(context, claw, provider, tried);
  const { ok, modelId, tookMs, error } = tried;
  if (!ok || modelId === null) {
    const failure = new AppError(error?.code ?? 'no_model', error?.message ?? 'No model answered.', { hint: error?.hint });
    output.failure(failure);
    output.note('Nothing was written.');
    return null;
  }
  output.note(`${provider.name}/${modelId} answers (${tookMs} ms).`);
  if (options.provider !== undefined && options.yes !== true) {
    output.result(
      { wouldWrite: { provider: provider.name, model: `${provider.name}/${modelId}` } },
      () => `It works. To write it, say --yes.`,
    );
    return 'shown';
  }
  const add = () => claw.op('provider.add', { provider, modelId });
  const { model, path, warnings } = await withOpenVault(context, connection, add);
  return { provider: provider.name, model: model ?? modelId, path, warnings };
}

async function tryOther(context: CommandContext, claw: Claw, provider: ProviderDraft, tried: Tried): Promise<Tried> {
  const names = tried.models.map(({ modelId }) => modelId);
  const modelId = await askModel(context, names, tried.modelId ?? undefined);
  return modelId === tried.modelId ? tried : claw.op('provider.try', { provider, modelId });
}

const MODELS_SHOWN = 20;

/** Reads a number of the list, or a name. Enter chooses the usual model. */
async function askModel(context: CommandContext, names: readonly string[], usual: string | undefined = names[0]): Promise<string> {
  const shown = names.slice(0, MODELS_SHOWN);
  context.output.say('Models:');
  for (const [at, name] of shown.entries()) context.output.say(`  ${at + 1}. ${name}`);
  if (names.length > shown.length) context.output.say(`  and ${names.length - shown.length} more; any can be named`);
  const answer = (await askLine(context, `Which model? A number or a name${usual === undefined ? '' : ` (Enter: ${usual})`}: `)).trim();
  const byNumber = /^\d+$/.test(answer) ? shown[Number(answer) - 1] : undefined;
  const chosen = answer === '' ? usual : (byNumber ?? answer);
  if (chosen === undefined) throw new AppError('invalid_params', 'No model was named.');
  return chosen;
}

/** Asks for a passphrase if the vault is locked or there is no keychain. */
async function withOpenVault<T>(context: CommandContext, connection: Connection, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { code } = toAppError(cause);
    if (!context.hasPerson || (code !== 'vault_locked' && code !== 'keychain_unavailable')) throw cause;
    context.output.say('This computer has no open keychain; the key goes into an encrypted vault in the data folder.');
    await openVault(context, connection);
    return work();
  }
}

/** Null if the workspace is unchanged. */
async function setWorkspace(
  context: CommandContext,
  claw: Claw,
  options: SetupOptions & { readonly asks?: boolean },
): Promise<string | null> {
  const given =
    options.workspace ?? (options.asks === true ? (await askLine(context, 'Folder to work in (Enter: as it is): ')).trim() : '');
  if (given === '') return null;
  const path = givenPath(context.io, given);
  const { holds } = await claw.op('config.set', { key: 'workspace.path', value: path });
  if (holds === 'next-start') context.output.note('The folder is used from the next start on.');
  return path;
}
