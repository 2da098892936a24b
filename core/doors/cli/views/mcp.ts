// Views of MCP servers: everything a person needs to see before approving one.

import type { OpResult } from '../../../contracts/ops.ts';
import type { McpServerView } from '../../../contracts/features/mcp.ts';
import { exitCodes } from '../exit-code.ts';
import { listed, tabled, type ViewsOf } from '../kernel/view.ts';
import { table } from '../table.ts';

export const mcpViews: ViewsOf<'mcp'> = {
  'mcp.list': { json: (result) => result, show: describeAll },
  'mcp.add': {
    json: ({ server }) => server,
    show: ({ server }, { program }) =>
      [
        `Added ${server.name}; nothing of it runs yet.`,
        ...wordsOf(server),
        `Start it and see its tools: ${program} mcp test ${server.name}`,
      ].join('\n'),
  },
  'mcp.remove': { show: ({ name }) => `Removed ${name} and its approval.` },
  'mcp.test': { json: ({ server }) => server, show: ({ server }, { program }) => describe(server, program) },
  'mcp.approve': {
    json: ({ server }) => server,
    show: ({ server }) =>
      `Approved ${server.name} with ${server.tools.filter(({ state }) => state === 'approved').length} tools. Their calls still ask you.`,
  },
  'mcp.import': { show: describeImport },
  'mcp.resources': {
    show: ({ resources, templates }) =>
      table(
        ['URI', 'NAME', 'TYPE', ''],
        [
          ...resources.map((one) => [one.uri, one.name, one.mediaType, one.description]),
          ...templates.map((one) => [one.uri, one.name, '(a pattern)', one.description]),
        ],
        'It has no resources.',
      ),
  },
  'mcp.resource': {
    show: ({ text, artifacts }) =>
      [text, ...artifacts.map(({ name, sha256 }) => `Kept as the artifact ${name} (${sha256.slice(0, 12)}).`)].join('\n'),
  },
  'mcp.prompts': listed(
    'prompts',
    {
      PROMPT: 'name',
      ARGUMENTS: (one) => one.arguments.map(({ name, required }) => (required ? name : `${name}?`)).join(' ') || '-',
      '': 'description',
    },
    'It has no prompts.',
  ),
  'mcp.prompt': { show: ({ text }) => text },
  'mcp.answer': { show: ({ server }) => `Answered ${server}.` },
  'mcp.login': {
    perform: async (context, params) =>
      context.withClaw('live', async ({ claw }) => {
        const begun = await claw.op('mcp.login', params);
        if (begun.url !== null) context.output.note(`Open this address and sign in:\n${begun.url}`);
        const done = begun.isSignedIn ? begun : await claw.op('mcp.login', { ...params, wait: true });
        context.output.result(done, () => (done.isSignedIn ? `Signed in to ${done.name}.` : `Not signed in to ${done.name}.`));
        return done.isSignedIn ? exitCodes.done : exitCodes.failed;
      }),
  },
  'mcp.logout': { show: ({ name }) => `Signed out of ${name}.` },
};

function wordsOf({ runs, gets }: McpServerView): string[] {
  return [`  ${runs}`, ...gets.map((line) => `  ${line}`)];
}

function describe(server: McpServerView, program: string): string {
  const tools = server.tools.map(({ name, state, description, isDestructive, problem }) =>
    [
      `${name} (${state}${isDestructive ? ', destructive' : ''})${problem === null ? '' : `: ${problem}`}`,
      ...description.split('\n').map((line) => `    ${line}`),
    ].join('\n'),
  );
  const isApproved = server.tools.every(({ state }) => state === 'approved' || state === 'refused') && server.state !== 'waiting';
  const next =
    isApproved || server.sha256 === null ? [] : ['', `To approve exactly this: ${program} mcp approve ${server.name} ${server.sha256}`];
  return [`${server.name}: ${server.state}, protocol ${server.protocol ?? '-'}`, ...wordsOf(server), '', ...tools, ...next].join('\n');
}

function describeAll({ servers, questions }: OpResult<'mcp.list'>): string {
  const approved = ({ tools }: McpServerView): string => String(tools.filter(({ state }) => state === 'approved').length);
  const list = tabled(
    servers,
    { SERVER: 'name', STATE: 'state', TOOLS: approved, RUNS: 'runs', '': ({ problem }) => problem ?? '' },
    'There are no MCP servers.',
  );
  return [
    list,
    ...questions.map((one) => `${one.questionId} ${one.server} asks: ${one.message}${one.url === null ? '' : ` ${one.url}`}`),
  ].join('\n');
}

function describeImport({ added, skipped, secrets }: OpResult<'mcp.import'>): string {
  return [
    ...added.flatMap((server) => [`Added ${server.name}; nothing of it runs yet.`, ...wordsOf(server)]),
    ...skipped.map(({ name, reason }) => `Left out ${name}: ${reason}`),
    ...(secrets.length === 0 ? [] : [`Secrets are in the keychain now: ${secrets.join(', ')}`]),
    ...(added.length + skipped.length === 0 ? ['The file names no servers.'] : []),
  ].join('\n');
}
