// The operations on MCP servers: the list, and the decisions that only a person makes. Only `mcp.test`, `mcp.login`, approvals and reading
// start a server here.

import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import { isPlainObject } from '../../base/json.ts';
import { doors } from '../../contracts/doors.ts';
import { AppError, givenText, unreadable } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { McpServerConfig } from '../../contracts/features/mcp.ts';
import type { ServedCaller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { Spine } from '../feature.ts';
import { failureOf, requestOptions, type McpConnection } from './connection.ts';
import { readServers } from './import-servers.ts';
import type { Questions } from './questions.ts';
import type { McpRegistry } from './registry.ts';
import type { SecretBox } from './sign-in.ts';
import type { SignIns } from './sign-ins.ts';
import { shown } from './tool-pins.ts';
import { ContentReader } from './tool-result.ts';

export interface McpOpsDeps extends Pick<
  Spine,
  'log' | 'policy' | 'clock' | 'settings' | 'home' | 'safety' | 'ids' | 'artifacts' | 'panic'
> {
  readonly registry: McpRegistry;
  readonly questions: Questions;
  readonly box: SecretBox;
  readonly signIns: SignIns;
}

const FILE_BYTES_MAX = 1_000_000;
const READ_MS = 60_000;
const LISTED_MAX = 500;

export function createMcpOps(deps: McpOpsDeps) {
  const { registry, questions, signIns } = deps;
  return {
    'mcp.list': () => ({ servers: registry.views(), questions: questions.list() }),
    'mcp.add': ({ name, replace = false, ...config }, caller) => add(deps, { name, replace, config }, caller),
    'mcp.remove': ({ name }, caller) => remove(deps, name, caller),
    'mcp.test': async ({ name }, caller) => {
      assertPerson(caller, 'An MCP server is started by hand');
      const server = registry.server(name);
      await server.connect(caller.gone, true);
      return { server: server.view() };
    },
    'mcp.stop': async ({ name }, caller) => {
      assertPerson(caller, 'An MCP server is disconnected');
      const server = registry.server(name);
      await server.close();
      return { server: server.view() };
    },
    'mcp.approve': (params, caller) => approve(deps, params, caller),
    'mcp.import': ({ path }, caller) => importFile(deps, path, caller),
    'mcp.resources': ({ name }, caller) => ask(deps, name, caller, (connection, options) => listResources(connection, options)),
    'mcp.resource': ({ name, uri }, caller) =>
      ask(deps, name, caller, async ({ client }, options) => contentsOf(deps, name, await client.readResource({ uri }, options))),
    'mcp.prompts': ({ name }, caller) => ask(deps, name, caller, (connection, options) => listPrompts(connection, options)),
    'mcp.prompt': ({ name, prompt, args = {} }, caller) =>
      ask(deps, name, caller, async ({ client }, options) =>
        promptText(deps, name, await client.getPrompt({ name: prompt, arguments: args }, options)),
      ),
    'mcp.answer': (answer, caller) => {
      const { server, questionId } = questions.answer(answer, caller.actor);
      return { questionId, server };
    },
    'mcp.login': ({ name, wait = false }, caller) => {
      assertPerson(caller, 'A person signs in');
      return signIns.login(registry.server(name), wait);
    },
    'mcp.logout': async ({ name }) => {
      await signIns.logout(registry.server(name));
      return { name };
    },
  } satisfies Partial<OpHandlers>;
}

interface Wanted {
  readonly name: string;
  readonly replace: boolean;
  readonly config: McpServerConfig;
}

async function add(deps: McpOpsDeps, { name, replace, config }: Wanted, caller: ServedCaller): Promise<OpResult<'mcp.add'>> {
  assertPerson(caller, 'An MCP server is added');
  const isKnown = deps.registry.views().some((one) => one.name === name);
  if (isKnown && !replace) {
    throw new AppError('conflict', `There is an MCP server ${name} already.`, {
      hint: 'Replace it with --replace, or choose another name.',
    });
  }
  await deps.settings.change(`mcp.servers.${name}`, config, caller.actor);
  return { server: deps.registry.make(name, config).view() };
}

async function remove(deps: McpOpsDeps, name: string, caller: ServedCaller): Promise<OpResult<'mcp.remove'>> {
  deps.registry.server(name);
  await deps.signIns.logout(deps.registry.server(name));
  await deps.settings.change(`mcp.servers.${name}`, null, caller.actor);
  deps.log.append(
    systemSessionId,
    [...revocations(deps, name, caller), { type: 'mcp.removed', body: { server: name, by: caller.actor } }],
    true,
  );
  return { name };
}

/** The grants for its tools were given for what the server was until now. */
function revocations({ policy, clock }: McpOpsDeps, server: string, { actor }: ServedCaller): AnyDraft[] {
  const grants = policy.grants(false, clock.nowMs()).filter(({ match }) => match.tool.startsWith(`${server}__`));
  return grants.map(({ grantId }) => ({ type: 'grant.revoked', body: { grantId, by: actor } }));
}

/** Fails with conflict if the server is no longer what the person was shown. */
async function approve(
  deps: McpOpsDeps,
  { name, sha256 }: OpParsed<'mcp.approve'>,
  caller: ServedCaller,
): Promise<OpResult<'mcp.approve'>> {
  assertPerson(caller, 'An MCP server is approved');
  if (deps.panic.engaged) throw new AppError('panic_engaged', 'Nothing can be approved while everything is stopped.');
  const server = deps.registry.server(name);
  await server.connect(caller.gone, true);
  if (server.sha256 !== sha256) {
    throw new AppError('conflict', `The MCP server ${name} is no longer what you were shown.`, {
      hint: `Look at it again: trayclaw mcp test ${name}`,
    });
  }
  const tools = (server.listed ?? [])
    .filter(({ problem }) => problem === null)
    .map(({ name: tool, description, schema, isDestructive, sha256: pin }) => ({
      name: tool,
      description,
      schema,
      isDestructive,
      sha256: pin,
    }));
  const body = { server: name, definition: server.definition, sha256, era: server.era, tools, by: caller.actor };
  const revoked = server.approved?.sha256 === sha256 ? [] : revocations(deps, name, caller);
  deps.log.append(systemSessionId, [...revoked, { type: 'mcp.approved', body }], true);
  deps.registry.refresh(server);
  return { server: server.view() };
}

async function importFile(deps: McpOpsDeps, path: string, caller: ServedCaller): Promise<OpResult<'mcp.import'>> {
  assertPerson(caller, 'MCP servers are imported');
  const { servers, skipped } = readServers(readSmallFile(resolve(deps.home, path)), (name, value) => {
    const line = `${name}=${value}`;
    return deps.safety.redact(line).text !== line;
  });
  const known = new Set(deps.registry.views().map(({ name }) => name));
  const fresh = servers.filter(({ name }) => !known.has(name));
  const kept = fresh.flatMap(({ secrets }) => Object.entries(secrets));
  for (const [name, value] of kept) await deps.box.set(name, value);
  if (fresh.length > 0) {
    await deps.settings.changeAll(
      fresh.map(({ name, config }) => ({ key: `mcp.servers.${name}`, value: config })),
      caller.actor,
    );
  }
  const twice = servers
    .filter(({ name }) => known.has(name))
    .map(({ name }) => ({ name, reason: 'There is a server of this name already.' }));
  return {
    added: fresh.map(({ name, config }) => deps.registry.make(name, config).view()),
    skipped: [...skipped, ...twice],
    secrets: kept.map(([name]) => name),
  };
}

function readSmallFile(path: string): string {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw new AppError('invalid_params', `${path} is not a plain file.`);
    if (stat.size > FILE_BYTES_MAX) throw new AppError('invalid_params', `${path} is larger than ${FILE_BYTES_MAX} bytes.`);
    return givenText(readFileSync(path), path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

type Options = ReturnType<typeof requestOptions>;

/** Sends a person's request to an approved server, which is started if needed. */
async function ask<T>(
  deps: McpOpsDeps,
  name: string,
  caller: ServedCaller,
  request: (connection: McpConnection, options: Options) => Promise<T>,
): Promise<T> {
  const server = deps.registry.server(name);
  if (server.approved === null) {
    throw new AppError('forbidden', `The MCP server ${name} is not approved as it is defined.`, {
      hint: `Look at it: trayclaw mcp test ${name}`,
    });
  }
  const signal = caller.gone;
  const connection = await server.connect(signal);
  try {
    return await request(connection, requestOptions({ signal, timeoutMs: READ_MS }));
  } catch (cause) {
    throw failureOf(name, cause);
  }
}

async function listResources(connection: McpConnection, options: Options): Promise<OpResult<'mcp.resources'>> {
  if (!connection.offers('resources')) return { resources: [], templates: [] };
  const { client } = connection;
  const { resources } = await client.listResources(undefined, options);
  const { resourceTemplates } = await client.listResourceTemplates(undefined, options);
  return {
    resources: resources.slice(0, LISTED_MAX).map(({ uri, name, description = '', mimeType = '' }) => ({
      uri: shown(uri, 4000),
      name: shown(name, 200),
      description: shown(description, 1000),
      mediaType: shown(mimeType, 100),
    })),
    templates: resourceTemplates.slice(0, LISTED_MAX).map(({ uriTemplate, name, description = '' }) => ({
      uri: shown(uriTemplate, 4000),
      name: shown(name, 200),
      description: shown(description, 1000),
    })),
  };
}

async function listPrompts(connection: McpConnection, options: Options): Promise<OpResult<'mcp.prompts'>> {
  if (!connection.offers('prompts')) return { prompts: [] };
  const { prompts } = await connection.client.listPrompts(undefined, options);
  return {
    prompts: prompts.slice(0, LISTED_MAX).map(({ name, description = '', arguments: given = [] }) => ({
      name: shown(name, 200),
      description: shown(description, 1000),
      arguments: given.slice(0, 50).map((one) => ({
        name: shown(one.name, 200),
        description: shown(one.description ?? '', 1000),
        required: one.required === true,
      })),
    })),
  };
}

function readerOf({ artifacts, ids }: McpOpsDeps, server: string): ContentReader {
  return new ContentReader(server, { artifacts, callId: ids.next('call'), sessionId: systemSessionId });
}

function contentsOf(deps: McpOpsDeps, server: string, { contents }: ReadResourceResult): OpResult<'mcp.resource'> {
  const reader = readerOf(deps, server);
  for (const one of contents.slice(0, 50)) reader.takeContents(one);
  const { text } = reader;
  if (text === '' || reader.artifacts.length > 0) return { text, artifacts: reader.artifacts };
  const name = `${server}-resource.txt`;
  return { text, artifacts: [deps.artifacts.put(text, { name, mediaType: 'text/plain; charset=utf-8' })] };
}

function promptText(deps: McpOpsDeps, server: string, { messages }: GetPromptResult): OpResult<'mcp.prompt'> {
  const reader = readerOf(deps, server);
  for (const { role, content } of messages.slice(0, 50)) {
    if (messages.length > 1) reader.say(`${role}:`);
    if (isPlainObject(content)) reader.take(content);
  }
  return { text: reader.text };
}

function assertPerson({ channel }: ServedCaller, what: string): void {
  if (!doors[channel].isPersonal) throw new AppError('forbidden', `${what} in the window or on the command line.`);
}
