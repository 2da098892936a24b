// Agents on other machines over the A2A protocol: the door through which they give tasks to this program, and the peers that this program
// gives tasks to. The modules that speak the protocol are loaded on first use.

import { createHash } from 'node:crypto';
import type { Claw } from '../../contracts/claw.ts';
import type { DoorAdmission, DoorAgents, DoorRequest, DoorRoute } from '../../contracts/door-route.ts';
import { groupAgentOf, isPeerModel, type PeerView } from '../../contracts/features/a2a.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import type { ModelPort } from '../../runtime/turns/turns.ts';
import { defineBuiltInFeature, type DoorPlan, type Spine } from '../feature.ts';
import { a2aPath, cardOf, cardPath, firstCardPath } from './card.ts';
import { PeerWork } from './peer-work.ts';
import { PeerLinks, withPeers } from './peer-links.ts';
import { a2aMigrations, A2aRows } from './rows.ts';
import type { NatsGroup } from './nats-group.ts';
import type { A2aDoor } from './serve.ts';
import { a2aChannel, TaskDesk } from './tasks.ts';
import { readInstanceFile } from '../../store/home/home.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { counted } from '../../base/counted.ts';
import { unwell, well, type Finding, type HealthSource } from '../../contracts/health.ts';

export { agents } from './agents.ts';

type Taken = Pick<
  Spine,
  | 'home'
  | 'config'
  | 'clock'
  | 'panic'
  | 'later'
  | 'log'
  | 'ids'
  | 'turns'
  | 'artifacts'
  | 'logger'
  | 'safety'
  | 'secrets'
  | 'closing'
  | 'sources'
  | 'redactPrompt'
  | 'version'
  | 'fetch'
> & { readonly tokens: DoorAdmission; readonly agents: DoorAgents };

const SERVE_AGAIN_MS = 2_000;

/** Loads the connection to a group alone, for tests against a server that requires TLS and credentials. */
export async function loadGroup(): Promise<{ readonly NatsGroup: typeof NatsGroup }> {
  return import('./nats-group.ts');
}

export const a2a = defineBuiltInFeature({
  name: 'a2a',
  migrations: a2aMigrations,
  rows: ({ db }) => new A2aRows(db),
  create: (spine: Taken, rows: A2aRows) => {
    const { config, version, fetch, tokens, agents } = spine;
    const nodeId = nodeIdOf(spine.log);
    const links = new PeerLinks({ peers: config.a2a.peers, secrets: spine.secrets, fetch, openAt: (peer) => rows.openAt(peer) });
    const group = groupOf(spine, nodeId);
    const linkTo = async (peer: string) => (groupAgentOf(peer) === null ? links.to(peer) : (await group()).link());
    const work = new PeerWork({ ...spine, rows, nodeId, linkTo });
    let takesWork = false;
    const ownAgents = () => agents.list().filter(({ model }) => !isPeerModel(model));
    let desk: TaskDesk | null = null;
    const handlers = {
      'a2a.card': ({ url = readInstanceFile(spine.home)?.url ?? 'http://127.0.0.1' }) => ({
        enabled: config.doors.a2a.enabled,
        card: cardOf(url.replace(/\/+$/, ''), ownAgents(), version),
      }),
      'a2a.peers': async () => ({ peers: await links.look(spine.closing) }),
    } satisfies Partial<OpHandlers>;
    const open = (claw: Claw): DoorRoute['answer'] => {
      const isOpen = config.doors.a2a.enabled;
      const has = (agentId: string): boolean => ownAgents().some((one) => one.agentId === agentId);
      const made = new TaskDesk({ ...spine, claw, rows, agents: { has }, nodeId });
      desk = made;
      // Tasks of an earlier run continue before the first request.
      if (isOpen) made.listen();
      if (takesWork && config.a2a.transport === 'nats') {
        const ids = ownAgents().map(({ agentId }) => agentId);
        keepServing(async () => (await group()).serve(made, ids), spine);
      }
      let opening: Promise<A2aDoor> | null = null;
      const begin = async (): Promise<A2aDoor> => {
        const { A2aDoor: Door } = await import('./serve.ts');
        const admit = (request: Pick<DoorRequest, 'header' | 'trust'>) => tokens.admit(request, 'a2a', isOpen);
        const route = () => agents.route({ channel: a2aChannel, chatId: null });
        return new Door({ desk: made, logger: spine.logger, version, admit, agents: ownAgents, route });
      };
      return async (request, reply) => {
        opening ??= begin();
        await (await opening).answer(request, reply);
      };
    };
    return {
      handlers,
      checks: [
        a2aChecks({
          peers: Object.keys(config.a2a.peers),
          look: () => links.look(spine.closing),
          group: config.a2a.transport === 'nats' ? async () => (await group()).look() : null,
        }),
      ],
      /** Models that name a peer are answered by that peer. */
      runsAsModels: (models: ModelPort): ModelPort => withPeers(models, { peers: config.a2a.peers, work }),
      doors: [
        {
          door: 'a2a',
          paths: [cardPath, firstCardPath, a2aPath],
          owns: (path) => path === cardPath || path === firstCardPath || path === a2aPath || path.startsWith(`${a2aPath}/`),
          open,
        },
      ] satisfies DoorPlan[],
      begin: () => {
        takesWork = true;
      },
      dispose: async () => {
        desk?.dispose();
        if (config.a2a.transport === 'nats') await (await group()).close();
      },
    };
  },
});

type GroupParts = Pick<Taken, 'config' | 'logger' | 'secrets' | 'closing' | 'panic'>;

/** Returns a function that creates the group of nodes on first use. */
function groupOf({ config, logger, secrets, closing, panic }: GroupParts, nodeId: () => string): () => Promise<NatsGroup> {
  let made: Promise<NatsGroup> | null = null;
  return () =>
    (made ??= import('./nats-group.ts').then(({ NatsGroup: Group }) => {
      const { nats } = config.a2a;
      if (nats === undefined) throw new AppError('invalid_config', 'a2a.nats is missing.');
      return new Group({
        config: nats,
        nodeId: nodeId(),
        logger,
        closing,
        isStopped: () => panic.engaged,
        resolve: async (ref) => (await secrets.resolve(ref)).trim(),
      });
    }));
}

/** Retries until the server was reached once. After that the NATS client reconnects automatically. */
function keepServing(serve: () => Promise<void>, { logger, later, closing }: Pick<Taken, 'logger' | 'later' | 'closing'>): void {
  serve().catch((cause: unknown) => {
    if (closing.aborted) return;
    logger.log('warn', 'the NATS server of the group cannot be reached yet', { cause: String(cause) });
    later(SERVE_AGAIN_MS, () => {
      if (!closing.aborted) keepServing(serve, { logger, later, closing });
    });
  });
}

/** Reads the log lazily, because a new log has no event yet. */
function nodeIdOf(log: Pick<SessionLog, 'reads'>): () => string {
  let known: string | null = null;
  return () => (known ??= hashOf(log));
}

function hashOf({ reads }: Pick<SessionLog, 'reads'>): string {
  const [first] = reads.after(0, 1);
  return createHash('sha256')
    .update(JSON.stringify(first ?? null))
    .digest('base64url')
    .slice(0, 16);
}

interface Looked {
  readonly group: (() => Promise<{ readonly waiting: number }>) | null;
  readonly peers: readonly string[];
  readonly look: () => Promise<readonly PeerView[]>;
}

/** Contacts the peers only in a full check, since each unreachable peer takes a moment. */
function a2aChecks({ peers, look, group }: Looked): HealthSource {
  return {
    check: async (full) => [
      ...(full && peers.length > 0 ? (await look()).map(findingOf) : []),
      ...(group === null ? [] : [await groupFinding(group)]),
    ],
  };
}

async function groupFinding(look: () => Promise<{ readonly waiting: number }>): Promise<Finding> {
  try {
    const { waiting } = await look();
    return well('a2a.group', `The NATS server of the group answers; ${counted(waiting, 'task waits or runs', 'tasks wait or run')}.`);
  } catch (cause) {
    const { message, hint } = toAppError(cause);
    return unwell('a2a.group', message, hint ?? 'Check a2a.nats in config.yaml.');
  }
}

function findingOf({ peer, state, problem, name }: PeerView): Finding {
  const id = `a2a.${peer}`;
  if (state === 'connected') return well(id, `The agent ${peer} answers${name === '' ? '' : ` as ${name}`}.`);
  return unwell(id, problem ?? `The agent ${peer} cannot be used.`, 'trayclaw a2a peers');
}
