// Chat services: Telegram, Discord, email and those of plugins. Each service implements only its protocol. This feature adds people,
// approvals, commands, state, pausing and health checks, and the operations about all services.

import { randomBytes, randomInt } from 'node:crypto';
import type * as z from 'zod';
import { counted } from '../../base/counted.ts';
import { assert } from '../../base/assert.ts';
import { sleep } from '../../base/waits.ts';
import type { ChatService, ChannelTrial, ResolveSecret } from '../../contracts/channels.ts';
import type { Claw } from '../../contracts/claw.ts';
import type { DoorAgents } from '../../contracts/door-route.ts';
import { AppError, noSuch, toAppError } from '../../contracts/errors.ts';
import { unwell, well, type Finding } from '../../contracts/health.ts';
import type { OpHandlers, OpParsed, OpResult, ServedCaller } from '../../contracts/ops.ts';
import { every, readKept } from '../../runtime/chats/chats.ts';
import { defineBuiltInFeature, type Contribution, type Spine } from '../feature.ts';
import { channelMigrations, ChannelRows } from './rows.ts';
import { ServiceChannel, type ServiceChannelDeps } from './service-channel.ts';
import { describeIssues } from '../../contracts/describe-issues.ts';
import type { Secrets } from '../../guard/secret/secret.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'ids' | 'logger' | 'log' | 'policy' | 'outbox' | 'artifacts' | 'closing' | 'options'> &
  Pick<ServiceChannelDeps, 'servers'> &
  Pick<TrialDeps, 'secrets'> & { readonly contributions: readonly Contribution[]; readonly agents: Pick<DoorAgents, 'route'> };

/** Omits 0, O, 1, I and L, which people confuse. */
const CODE_ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const CODE_LENGTH = 10;

export const channels = defineBuiltInFeature({
  name: 'channels',
  migrations: channelMigrations,
  rows: ({ db }) => new ChannelRows(db),
  create: (spine: Taken, rows: ChannelRows) => {
    // Trials and services of the features before this one in the list.
    const trials = spine.contributions.flatMap((one) => one.trials ?? []);
    const all = spine.contributions.flatMap((one) => one.services ?? []).map((service) => channelOf(spine, rows, service));
    return {
      gives: {
        /** Returns the channel of a built-in service. */
        chatChannel: (name: string): ServiceChannel => {
          const found = all.find((one) => one.name === name);
          assert(found !== undefined, `there is no chat service ${name}`);
          return found;
        },
      },
      handlers: {
        ...createHandlers(all),
        'channel.try': (given: OpParsed<'channel.try'>, { gone }: ServedCaller) => trySettings({ ...spine, trials }, given, gone),
      },
      checks: [{ check: () => all.filter(isOn).map(checkChannel) }],
      join: (claw: Claw) => all.map((one) => one.channel(claw)),
    };
  },
});

function channelOf(spine: Taken, rows: ChannelRows, service: ChatService): ServiceChannel {
  const { config, policy, outbox, artifacts } = spine;
  return new ServiceChannel({
    ...spine,
    service,
    rows: rows.of(service.name),
    approvals: policy,
    wait: spine.options.wait ?? sleep,
    randomInt: (below) => randomInt(below),
    nonce: () => (service.answers === 'codes' ? drawCode() : randomBytes(15).toString('base64url')),
    every,
    queue: (item) => outbox.queue(item),
    keep: (text, name, sessionId) => artifacts.put(text, { name, mediaType: 'text/plain', sessionId }),
    readFile: (sha256) => readKept(artifacts, sha256),
    fileBytesMax: config.attachments.fileBytesMax,
    agentOf: (chatId) => service.rules.agent ?? spine.agents.route({ channel: service.name, chatId }),
  });
}

function drawCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)] ?? '').join('');
}

const isOn = (one: ServiceChannel): boolean => one.state !== 'off';

function createHandlers(services: readonly ServiceChannel[]) {
  const all = services.filter(isOn);
  const find = (name: string): ServiceChannel => {
    const found = all.find((one) => one.name === name);
    if (found !== undefined) return found;
    const names = all.map((one) => one.name);
    const known = names.length === 0 ? 'None is set up' : `There are: ${names.join(', ')}`;
    throw noSuch('channel', name, names, `${known}. Set it up under channels in config.yaml.`);
  };
  const holding = (pairingId: string): ServiceChannel => {
    const found = all.find((one) => one.pairing.list().pairings.some((row) => row.pairingId === pairingId));
    if (found === undefined) {
      throw new AppError('not_found', `There is no pending pairing ${pairingId}; a code is valid for an hour.`, {
        hint: 'Show a new one with: trayclaw channels pair NAME',
      });
    }
    return found;
  };
  const statuses = (): OpResult<'channel.list'> => ({ channels: all.map((one) => one.status()) });
  const people = (): OpResult<'channel.people'> => ({ people: all.flatMap(peopleOf) });
  return {
    'channel.list': statuses,
    'channel.people': people,
    'channel.pair': ({ channel }, caller) => {
      const one = find(channel);
      return { ...one.pairing.offer(caller), me: one.me };
    },
    'channel.confirm': ({ pairingId }, caller) => {
      holding(pairingId).confirm(pairingId, caller);
      return people();
    },
    'channel.refuse': ({ pairingId }, caller) => {
      holding(pairingId).pairing.refuse(pairingId, caller);
      return people();
    },
    'channel.revoke': ({ channel, userId }, caller) => {
      find(channel).pairing.revoke(userId, caller);
      return people();
    },
    'channel.pause': ({ channel }, caller) => {
      find(channel).setPaused(true, caller.actor);
      return statuses();
    },
    'channel.resume': ({ channel }, caller) => {
      find(channel).setPaused(false, caller.actor);
      return statuses();
    },
  } satisfies Partial<OpHandlers>;
}

function peopleOf({ name: channel, pairing }: ServiceChannel): OpResult<'channel.people'>['people'] {
  const { people, pairings } = pairing.list();
  return [
    ...people.map(({ userId, name, pairedAtMs }) => ({
      channel,
      state: 'paired' as const,
      name,
      userId,
      pairingId: '',
      atMs: pairedAtMs,
    })),
    ...pairings.map(({ pairingId, expiresAtMs, claimedBy }) => ({
      channel,
      state: claimedBy === null ? ('code not used' as const) : ('waits for you' as const),
      name: claimedBy?.name ?? '',
      userId: claimedBy?.userId ?? '',
      pairingId,
      atMs: expiresAtMs,
    })),
  ];
}

function checkChannel(one: ServiceChannel): Finding {
  const { channel, state, problem, me, people } = one.status();
  const id = one.checkId;
  if (state === 'paused') return well(id, `${channel} is paused.`);
  if (problem !== null) return unwell(id, problem, 'trayclaw channels list');
  const name = me ?? channel;
  if (people === 0) return well(id, `${name} is ${state}; no one is paired yet.`);
  return well(id, `${name} is ${state} and paired with ${counted(people, 'person', 'people')}.`);
}

interface TrialDeps {
  readonly secrets: Pick<Secrets, 'resolve' | 'guard'>;
  readonly trials: readonly ChannelTrial[];
}

const TRIAL_MS = 30_000;

/** Tests settings that are not saved: first the problems of single fields, then one connection. Writes nothing. */
async function trySettings(
  { trials, secrets }: TrialDeps,
  { channel, settings, secrets: values, checkOnly }: OpParsed<'channel.try'>,
  gone: AbortSignal,
): Promise<OpResult<'channel.try'>> {
  const trial = trials.find((one) => one.channel === channel);
  if (trial === undefined) throw new AppError('not_found', `The settings of ${channel} cannot be tested.`);
  for (const [name, value] of Object.entries(values)) secrets.guard(value, name);
  const fields = faultsOf(trial.settings, settings);
  const nothing = { fields, me: null, problem: null };
  if (fields.length > 0 || checkOnly === true) return nothing;
  const resolve: ResolveSecret = async (reference) => values[reference.replace(/^keychain:/, '')] ?? (await secrets.resolve(reference));
  try {
    return { ...nothing, me: await trial.connect(settings, resolve, AbortSignal.any([gone, AbortSignal.timeout(TRIAL_MS)])) };
  } catch (cause) {
    const error = toAppError(cause);
    // An unreachable server requires nothing from the person. Every other failure comes with a hint.
    const problem = error.code === 'fetch_failed' ? error.message : error.told();
    const { field } = error.data;
    return { ...nothing, problem, fields: typeof field === 'string' ? [{ path: field, problem }] : [] };
  }
}

function faultsOf(schema: z.ZodType, given: unknown): OpResult<'channel.try'>['fields'] {
  const parsed = schema.safeParse(given);
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => {
    const path = issue.path.map(String).join('.');
    // The problem omits the path, because the window shows it next to the field.
    const [told = ''] = describeIssues([issue], { given, whole: '' });
    return { path, problem: told.slice(path.length).replace(/^:? /, '') };
  });
}
