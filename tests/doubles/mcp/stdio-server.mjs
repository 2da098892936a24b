// For tests only: a strict server of the Model Context Protocol on standard input and output, revision 2025-11-25, without any library. It refuses
// what the specification refuses, and does what its script says. `stdio-server.mjs SCRIPT.json`

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * @typedef {object} Script
 * @property {object[]} tools
 * @property {Record<string, object>} [results] by tool: the result of a call, or one of the words below under `does`
 * @property {string} [record] a file that gets a line of JSON for every message
 * @property {string} [stderr]
 * @property {string} [toolsFile] a file with the tools, read at each listing
 */

const [scriptPath = ''] = process.argv.slice(2);
/** @type {Script} */
const script = JSON.parse(readFileSync(scriptPath, 'utf8'));
let phase = 'new';
let nextId = 1;
/** @type {Map<string, (result: unknown) => void>} */
const asked = new Map();
if (script.stderr) process.stderr.write(`${script.stderr}\n`);

/** @param {object} message */
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
/** @param {object} entry */
const record = (entry) => script.record && appendFileSync(script.record, `${JSON.stringify(entry)}\n`);
/** @param {unknown} id @param {number} code @param {string} message */
const fail = (id, code, message) => send({ id, error: { code, message } });

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  record(message);
  if (message.jsonrpc !== '2.0') return fail(message.id ?? null, -32600, 'Invalid Request: jsonrpc must be "2.0"');
  if (message.method === undefined) return asked.get(message.id)?.(message.result ?? message.error);
  if (message.id === undefined) return notified(message);
  void answer(message);
});
process.stdin.on('end', () => process.exit(0));

/** @param {{ method: string, params?: any }} message */
function notified({ method }) {
  if (method === 'notifications/initialized') phase = 'ready';
}

/** @param {{ id: unknown, method: string, params?: any }} message */
// eslint-disable-next-line complexity -- a branch for each method
async function answer({ id, method, params }) {
  if (method === 'initialize') {
    if (phase !== 'new') return fail(id, -32600, 'Already initialized');
    if (typeof params?.protocolVersion !== 'string' || !params.clientInfo?.name || !params.clientInfo?.version || !params.capabilities)
      return fail(id, -32602, 'initialize needs protocolVersion, capabilities and clientInfo');
    phase = 'waiting';
    const capabilities = { tools: { listChanged: true }, resources: {}, prompts: {} };
    return send({
      id,
      result: {
        protocolVersion: '2025-11-25',
        capabilities,
        serverInfo: { name: 'double', version: '1' },
        instructions: script.instructions,
      },
    });
  }
  if (phase !== 'ready') return fail(id, -32600, `${method} came before the session was initialized`);
  if (method === 'ping') return send({ id, result: {} });
  if (method === 'tools/list') {
    const tools = script.toolsFile && existsSync(script.toolsFile) ? JSON.parse(readFileSync(script.toolsFile, 'utf8')) : script.tools;
    return send({ id, result: { tools, ...(script.endlessPages ? { nextCursor: String(nextId++) } : {}) } });
  }
  if (method === 'tools/call') return call(id, params);
  if (method === 'resources/list') return send({ id, result: { resources: script.resources ?? [] } });
  if (method === 'resources/templates/list') return send({ id, result: { resourceTemplates: [] } });
  if (method === 'resources/read')
    return send({ id, result: { contents: [{ uri: params.uri, mimeType: 'text/plain', text: `content of ${params.uri}` }] } });
  if (method === 'prompts/list') return send({ id, result: { prompts: script.prompts ?? [] } });
  if (method === 'prompts/get')
    return send({
      id,
      result: {
        messages: [{ role: 'user', content: { type: 'text', text: `Prompt ${params.name} ${JSON.stringify(params.arguments ?? {})}` } }],
      },
    });
  return fail(id, -32601, `Method not found: ${method}`);
}

/** @param {unknown} id @param {any} params */
// eslint-disable-next-line complexity -- a branch for each thing a server may do
async function call(id, params) {
  const tools = script.toolsFile ? JSON.parse(readFileSync(script.toolsFile, 'utf8')) : script.tools;
  if (!tools.some((/** @type {{ name: string }} */ { name }) => name === params?.name))
    return fail(id, -32602, `Unknown tool: ${params?.name}`);
  /** @type {any} */
  const todo = script.results?.[params.name] ?? {
    content: [{ type: 'text', text: `${params.name} got ${JSON.stringify(params.arguments ?? {})}` }],
  };
  if (todo.does === 'never') return;
  if (todo.does === 'exit') return process.exit(3);
  if (todo.does === 'flood') {
    for (let at = 0; at < 200_000; at++) send({ method: 'notifications/message', params: { level: 'info', data: 'flood' } });
    return send({ id, result: { content: [{ type: 'text', text: 'flooded' }] } });
  }
  if (todo.does === 'large') return send({ id, result: { content: [{ type: 'text', text: 'x'.repeat(todo.bytes) }] } });
  if (todo.does === 'progress') {
    // eslint-disable-next-line no-underscore-dangle -- the name in the protocol
    const progressToken = params._meta?.progressToken;
    if (progressToken === undefined) return fail(id, -32602, 'no progress token');
    for (const progress of [1, 2])
      send({ method: 'notifications/progress', params: { progressToken, progress, total: 2, message: `step ${progress}` } });
    return send({ id, result: { content: [{ type: 'text', text: 'done' }] } });
  }
  if (todo.does === 'change-tools') {
    send({ method: 'notifications/tools/list_changed' });
    return send({ id, result: { content: [{ type: 'text', text: 'changed' }] } });
  }
  if (todo.does === 'elicit') {
    const question = `q${nextId++}`;
    const answered = new Promise((resolve) => asked.set(question, resolve));
    send({ id: question, method: 'elicitation/create', params: todo.params });
    return send({ id, result: { content: [{ type: 'text', text: `answered ${JSON.stringify(await answered)}` }] } });
  }
  if (todo.does === 'error') return fail(id, todo.code ?? -32000, todo.message);
  if (todo.does === 'raw') return process.stdout.write(`${todo.line}\n`);
  return send({ id, result: todo });
}
