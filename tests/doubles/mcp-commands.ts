// For tests only: commands about MCP servers, each with the operation it calls, and the fake's answers. The fake has one server, `files`.

import type { McpServerView } from '../../core/contracts/features/mcp.ts';
import type { OpHandlers, OpName } from '../../core/contracts/ops.ts';

const sha256 = 'a'.repeat(64);
const files: McpServerView = {
  name: 'files',
  state: 'connected',
  problem: null,
  runs: 'npx files',
  gets: ['runs in the workspace'],
  transport: 'stdio',
  protocol: '2025-11-25',
  sha256,
  tools: [],
};
const prompt = { name: 'review', description: 'Reviews.', arguments: [{ name: 'file', description: '', required: true }] };

export const mcpAnswers: Pick<OpHandlers, Extract<OpName, `mcp.${string}`>> = {
  'mcp.list': () => ({ servers: [files], questions: [] }),
  'mcp.add': () => ({ server: files }),
  'mcp.remove': ({ name }) => ({ name }),
  'mcp.test': () => ({ server: files }),
  'mcp.stop': () => ({ server: files }),
  'mcp.approve': () => ({ server: files }),
  'mcp.import': () => ({ added: [files], skipped: [], secrets: [] }),
  'mcp.resources': () => ({ resources: [], templates: [] }),
  'mcp.resource': ({ uri }) => ({ text: `content of ${uri}`, artifacts: [] }),
  'mcp.prompts': () => ({ prompts: [prompt] }),
  'mcp.prompt': ({ args = {} }) => ({ text: JSON.stringify(args) }),
  'mcp.answer': ({ questionId }) => ({ questionId, server: 'files' }),
  'mcp.login': ({ name }) => ({ name, url: null, isSignedIn: true }),
  'mcp.logout': ({ name }) => ({ name }),
};

export const mcpCommands: readonly { argv: string[]; op: OpName; params: unknown; json: unknown }[] = [
  { argv: ['mcp', 'list'], op: 'mcp.list', params: {}, json: { servers: [files], questions: [] } },
  {
    argv: ['mcp', 'add', 'files', '--env', '{"MODE":"x"}', '--env', 'PROXY=http://a:1=2', 'npx', 'files', 'here', '--confined'],
    op: 'mcp.add',
    params: { name: 'files', command: 'npx', args: ['files', 'here'], confined: true, env: { MODE: 'x', PROXY: 'http://a:1=2' } },
    json: files,
  },
  {
    argv: ['mcp', 'add', 'web', '--url', 'https://a.example/mcp', '--header', 'Authorization=keychain:web', '--header', 'X-Team: a b'],
    op: 'mcp.add',
    params: { name: 'web', url: 'https://a.example/mcp', headers: { Authorization: 'keychain:web', 'X-Team': 'a b' } },
    json: files,
  },
  { argv: ['mcp', 'stop', 'files'], op: 'mcp.stop', params: { name: 'files' }, json: { server: files } },
  { argv: ['mcp', 'remove', 'files', '--yes'], op: 'mcp.remove', params: { name: 'files' }, json: { name: 'files' } },
  { argv: ['mcp', 'test', 'files'], op: 'mcp.test', params: { name: 'files' }, json: files },
  { argv: ['mcp', 'approve', 'files', sha256], op: 'mcp.approve', params: { name: 'files', sha256 }, json: files },
  {
    argv: ['mcp', 'import', 'mcp.json'],
    op: 'mcp.import',
    params: { path: '/work-folder/mcp.json' },
    json: { added: [files], skipped: [], secrets: [] },
  },
  { argv: ['mcp', 'resources', 'files'], op: 'mcp.resources', params: { name: 'files' }, json: { resources: [], templates: [] } },
  {
    argv: ['mcp', 'read', 'files', 'demo://a'],
    op: 'mcp.resource',
    params: { name: 'files', uri: 'demo://a' },
    json: { text: 'content of demo://a', artifacts: [] },
  },
  { argv: ['mcp', 'prompts', 'files'], op: 'mcp.prompts', params: { name: 'files' }, json: [prompt] },
  {
    argv: ['mcp', 'prompt', 'files', 'review', '{"file":"a"}'],
    op: 'mcp.prompt',
    params: { name: 'files', prompt: 'review', args: { file: 'a' } },
    json: { text: '{"file":"a"}' },
  },
  {
    argv: ['mcp', 'answer', 'qst_1', '{"name":"x"}'],
    op: 'mcp.answer',
    params: { questionId: 'qst_1', action: 'accept', content: { name: 'x' } },
    json: { questionId: 'qst_1', server: 'files' },
  },
  { argv: ['mcp', 'login', 'web'], op: 'mcp.login', params: { name: 'web' }, json: { name: 'web', url: null, isSignedIn: true } },
  { argv: ['mcp', 'logout', 'web'], op: 'mcp.logout', params: { name: 'web' }, json: { name: 'web' } },
];
