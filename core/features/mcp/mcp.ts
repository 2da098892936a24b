// Servers of the Model Context Protocol, whose tools become tools of the gate once a person has approved them. Connects the parts to the
// program. If no server is configured, nothing is loaded and nothing runs.

import { homedir } from 'node:os';
import type { McpQuestion, McpServerView } from '../../contracts/features/mcp.ts';
import { ContentHashes } from '../../guard/command/command.ts';
import { createNamedPlaces } from '../../hands/tools/tools.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { createCheckedFetch } from './http-link.ts';
import { programOf } from './definition.ts';
import { createMcpOps } from './ops.ts';
import { Questions } from './questions.ts';
import { McpRegistry, type RegistryDeps } from './registry.ts';
import { McpRows, mcpMigrations } from './rows.ts';
import { SignIn, type SecretBox } from './sign-in.ts';
import { SignIns } from './sign-ins.ts';
import { counted } from '../../base/counted.ts';
import { didYouMean, nearNames } from '../../base/near-names.ts';
import { configSchema, type Config } from '../../contracts/config.ts';
import { unwell, warning, well, type Finding, type HealthSource } from '../../contracts/health.ts';
import { namesIn, type FoundName } from '../../contracts/named-things.ts';

export { readTools } from './tool-pins.ts';

type Taken = Pick<
  Spine,
  | 'home'
  | 'clock'
  | 'later'
  | 'ids'
  | 'logger'
  | 'log'
  | 'policy'
  | 'facts'
  | 'panic'
  | 'safety'
  | 'artifacts'
  | 'tools'
  | 'settings'
  | 'turns'
  | 'closing'
  | 'version'
  | 'fetch'
  | 'programs'
> & { readonly secrets: SecretBox };

export const mcp = defineBuiltInFeature({
  name: 'mcp',
  migrations: mcpMigrations,
  rows: ({ db }) => new McpRows(db),
  create: (spine: Taken, rows: McpRows) => {
    const { secrets: box, clock, ids, log, settings, panic, safety } = spine;
    const turnOf = ({ turnId }: McpQuestion): string | null => (turnId === '' ? null : turnId);
    const questions = new Questions(clock, ids, {
      asked: (question) => {
        const { questionId, server, tool, callId, message, sessionId } = question;
        const body = { server, tool, questionId, callId, message };
        log.append(sessionId, [{ type: 'mcp.asked', turnId: turnOf(question), body }]);
      },
      ended: ({ question, action, fields, by }) => {
        const body = { server: question.server, question: question.questionId, action, fields: [...fields], by };
        log.append(question.sessionId, [{ type: 'mcp.answered', turnId: turnOf(question), body }], true);
      },
    });
    const signInOf = (server: string, url: URL): SignIn => {
      const { clientId: id, clientSecret: secret } = settings.config.mcp.servers[server] ?? {};
      return new SignIn(box, server, url, id === undefined ? null : { id, secret });
    };
    const sendElsewhere = createCheckedFetch(safety);
    const tasks = new Map<string, string>();
    const registry = new McpRegistry({
      ...spine,
      ...programsOf(spine),
      taskOf: (callId) => tasks.get(callId) ?? null,
      onTask: (server, tool, taskId, { callId, sessionId, turnId }) => {
        log.append(sessionId, [{ type: 'mcp.task_started', turnId, body: { server, tool, callId, taskId } }], true);
      },
      questions,
      sendElsewhere,
      signInOf,
      secrets: box,
      approved: (server, definition) => {
        const approved = rows.approved(server);
        return approved?.definition === definition ? approved : null;
      },
    });
    const signIns = new SignIns({ ...spine, sendElsewhere }, signInOf);
    registry.take(settings.config.mcp);
    settings.useAtOnce(['mcp'], (config) => registry.take(config.mcp));
    return {
      gives: { servers: questions },
      handlers: createMcpOps({ ...spine, registry, questions, box, signIns }),
      /** Resumes calls that an earlier run started as tasks. They are not left to a person, because the server knows how they ended. */
      begin: () => {
        for (const { callId, sessionId, turnId } of log.index.lostCalls()) {
          const task = log.reads.lastOfCall(sessionId, 'mcp.task_started', callId);
          if (task === null) continue;
          tasks.set(callId, task.body.taskId);
          if (panic.engaged || turnId === null) continue;
          const body = { callId, answer: 'retry' as const, by: `mcp:${task.body.server}` };
          spine.turns.appendToTurn(sessionId, turnId, [{ type: 'tool.outcome_settled', turnId, phase: 'act', body }]);
          spine.turns.continueTurn(turnId);
        }
      },
      checks: [mcpChecks(() => registry.views(), settings)],
      dispose: async () => {
        await signIns.dispose();
        await registry.dispose();
      },
    };
  },
});

type Programs = Pick<RegistryDeps, 'start' | 'programOf' | 'namedPlaces'>;

function programsOf({ facts, clock, closing, programs }: Pick<Taken, 'facts' | 'clock' | 'closing' | 'programs'>): Programs {
  const userHome = homedir();
  const hashes = new ContentHashes(() => clock.nowMs());
  return {
    start: (_server, config, sets) => {
      const { argv, cwd } = programOf(config, facts.workspace, userHome);
      return programs.start({ argv, cwd, sets, attended: config.confined !== true, signal: closing });
    },
    programOf: (config) => {
      const { cwd, files } = programOf(config, facts.workspace, userHome);
      return { cwd, files: files.map((name) => ({ name, sha256: hashes.of(name) })).filter(({ sha256 }) => sha256 !== null) };
    },
    namedPlaces: createNamedPlaces(userHome),
  };
}

/**
 * The health check of the MCP servers: reports those that wait for a person, those that cannot be reached, and settings that name a tool
 * which a server does not have. Reports nothing if none are configured; starts none.
 */
function mcpChecks(list: () => readonly McpServerView[], settings: { readonly config: Config }): HealthSource {
  return {
    check: () => {
      const named = namesIn(configSchema, settings.config);
      return list().flatMap((server) => [...findingOf(server), ...unknownTools(server, named)]);
    },
  };
}

/** Names tools that the server does not have. Empty until the server was asked for its tools. */
function unknownTools({ name: server, tools }: McpServerView, named: readonly FoundName[]): Finding[] {
  if (tools.length === 0) return [];
  const known = tools.map((tool) => tool.name);
  return named
    .filter(({ kind, name }) => kind === 'tool' && name.startsWith(`${server}__`) && !known.includes(name))
    .map(({ name, place }, index) => {
      const hint = didYouMean(nearNames(name, known)) ?? `See: trayclaw mcp test ${server}`;
      return warning(`mcp.${server}.tools.${index + 1}`, `${place}: the MCP server ${server} has no tool ${JSON.stringify(name)}.`, hint);
    });
}

function findingOf({ name, state, problem, tools }: McpServerView): Finding[] {
  const id = `mcp.${name}`;
  const approved = tools.filter((tool) => tool.state === 'approved').length;
  const look = `trayclaw mcp test ${name}`;
  switch (state) {
    case 'off':
      return [];
    case 'waiting':
      return [warning(id, `The MCP server ${name} waits for your approval; the agent cannot use it.`, look)];
    case 'changed': {
      const changed = tools.filter((tool) => tool.state !== 'approved').length;
      return [
        warning(
          id,
          `The MCP server ${name} no longer offers what you approved; ${counted(changed, 'tool is', 'tools are')} withheld.`,
          look,
        ),
      ];
    }
    case 'sign-in':
      return [unwell(id, `The MCP server ${name} wants you to sign in.`, `trayclaw mcp login ${name}`)];
    case 'failed':
      return [unwell(id, problem ?? `The MCP server ${name} failed.`, look)];
    case 'idle':
    case 'starting':
      return [well(id, `The MCP server ${name} starts when it is needed; ${counted(approved, 'tool')} approved.`)];
    case 'connected':
      return [well(id, `The MCP server ${name} is connected; ${counted(approved, 'tool')} approved.`)];
  }
}
