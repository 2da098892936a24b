// Servers of the Model Context Protocol: only as a person approved them, and every call through the gate. Data, as in the other areas.

import type { Gate } from '../gate.ts';

const suites = ['tests/program/mcp.test.ts'];
const hostile = ['tests/program/mcp-hostile.test.ts'];
const server = 'core/features/mcp/server.ts';
const tool = 'core/features/mcp/mcp-tool.ts';

export const mcpGates: readonly Gate[] = [
  {
    name: 'mcp/approved',
    prevents: 'tools of a server are offered before a person approved it',
    file: server,
    text: 'return (this.approved?.tools ?? []).filter((tool) => this.#isAsApproved(tool));',
    instead: 'return usable(this.#listed ?? []);',
    suites: hostile,
    only: 'poisoned listing',
  },
  {
    name: 'mcp/pinned',
    prevents: 'a tool runs on an approval of another description or schema',
    file: server,
    text: 'if (!this.offered.some(({ sha256 }) => sha256 === tool.sha256)) throw this.#withheld(tool);',
    instead: '',
    suites: [...suites, ...hostile],
    only: 'changed while nothing ran',
  },
  {
    name: 'mcp/definition',
    prevents: 'an approval holds for another program or address under the same name',
    file: 'core/features/mcp/mcp.ts',
    text: 'return approved?.definition === definition ? approved : null;',
    instead: 'return definition === "" ? null : approved;',
    suites,
    only: 'the shown definition',
  },
  {
    name: 'mcp/as-shown',
    prevents: 'an approval holds for tools the person was not shown',
    file: 'core/features/mcp/ops.ts',
    text: 'if (server.sha256 !== sha256) {',
    instead: 'if (sha256 === "") {',
    suites,
    only: 'the shown hash',
  },
  {
    name: 'mcp/asks',
    prevents: 'a call of a tool runs without a question',
    file: tool,
    text: "const kind: ToolClass = tool.isDestructive ? 'destructive' : url === undefined ? 'exec' : 'network';",
    instead: "const kind: ToolClass = 'read';",
    suites: [...suites, ...hostile],
    only: 'asks',
  },
  {
    name: 'mcp/own-data',
    prevents: 'a server is handed a path to data of the program',
    file: tool,
    text: 'paths: namedPlaces(args, cwd ?? context.workspace, context),',
    instead: 'paths: namedPlaces({}, cwd ?? context.workspace, context),',
    suites: hostile,
    only: 'every spelling',
  },
  {
    name: 'mcp/untrusted',
    prevents: 'what a server says counts as the words of the person',
    file: 'core/features/mcp/tool-result.ts',
    text: "untrusted: [{ kind: 'mcp', where: server }],",
    instead: 'untrusted: [],',
    suites,
    only: 'is untrusted',
  },
  {
    name: 'mcp/panic',
    prevents: 'a server starts while everything is stopped',
    file: server,
    text: "if (this.#deps.panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped, so no MCP server starts.');",
    instead: '',
    suites,
    only: 'panic stop ends servers',
  },
  {
    name: 'mcp/marked',
    prevents: 'a server answers the questions of the gate over the command line',
    file: 'core/hands/tools/programs.ts',
    text: "(marker: EnvironmentMarker = { TRAYCLAW_CALL: this.#deps.ids.next('evt') })",
    instead: "(marker: EnvironmentMarker = { TRAYCLAW_ID: this.#deps.ids.next('evt') })",
    suites: hostile,
    only: 'answer for the person',
  },
  {
    name: 'mcp/sign-in-state',
    prevents: 'the answer to another sign-in is taken for the answer to this one',
    file: 'core/features/mcp/sign-in.ts',
    text: 'if (!timingSafeEqual(Buffer.from(given), Buffer.from(expected))) return false;',
    instead: '',
    suites: ['core/features/mcp/sign-in.test.ts'],
  },
  {
    name: 'mcp/own-origin',
    prevents: 'the headers of a server go to another address',
    file: 'core/features/mcp/http-link.ts',
    text: 'const isOwn = url.origin === own.origin;',
    instead: 'const isOwn = url !== own;',
    suites: ['core/features/mcp/http-link.test.ts'],
  },
  {
    name: 'mcp/watch',
    prevents: 'a client learns when a conversation continues that it may not read',
    file: 'core/features/mcp-door/serve.ts',
    text: '(peer) => readable(peer, uri) !== null',
    instead: '() => true',
    suites: ['tests/program/mcp-door.test.ts'],
    only: 'reads its own conversation',
  },
];
