// For tests only: a strict server of the Model Context Protocol on standard input and output, revision 2025-11-25, without any library. It
// rejects what the specification rejects, and otherwise follows its script. `stdio-server.mjs SCRIPT.json`

import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * @typedef {object} Script
 * @property {object[]} tools
 * @property {Record<string, object>} [results] by tool: the result of a call, or one of the words below under `does`
 * @property {string} [record] a file that gets a line of JSON for every message
 * @property {string} [stderr]
 * @property {string} [tasksFile] it carries out calls as tasks, and knows them again from this file after a restart; '' knows none
 * @property {boolean} [isSilent] it does not answer what comes before the session is initialized
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
    const tasks = script.tasksFile === undefined ? {} : { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
    const capabilities = { tools: { listChanged: true }, resources: {}, prompts: {}, ...tasks };
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
  if (phase !== 'ready' && script.isSilent) return;
  if (phase !== 'ready') return fail(id, -32600, `${method} came before the session was initialized`);
  if (method === 'ping') return send({ id, result: {} });
  if (method === 'tools/list') {
    const tools = script.toolsFile && existsSync(script.toolsFile) ? JSON.parse(readFileSync(script.toolsFile, 'utf8')) : script.tools;
    return send({ id, result: { tools, ...(script.endlessPages ? { nextCursor: String(nextId++) } : {}) } });
  }
  if (method === 'tools/call') return call(id, params);
  if (method.startsWith('tasks/') && script.tasksFile !== undefined) return ofTask(id, method, params);
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

/** @type {Map<string, any>} */
const tasks = new Map(script.tasksFile && existsSync(script.tasksFile) ? JSON.parse(readFileSync(script.tasksFile, 'utf8')) : []);
/** @type {Map<string, unknown[]>} */
const waiting = new Map();
const keepTasks = () => script.tasksFile && writeFileSync(script.tasksFile, JSON.stringify([...tasks]));

/** @param {any} task */
function stateOf({ taskId, status, statusMessage, createdAt }) {
  return { taskId, status, statusMessage, createdAt, lastUpdatedAt: new Date().toISOString(), ttl: null, pollInterval: 100 };
}

/**
 * Starts a task. Each request for its state advances its work by one step.
 * @param {unknown} id
 * @param {any} params
 * @param {any} todo
 */
function begin(id, params, todo) {
  const taskId = `task-${process.pid}-${nextId++}`;
  // eslint-disable-next-line no-underscore-dangle -- the name in the protocol
  const task = { taskId, status: 'working', createdAt: new Date().toISOString(), step: 0, token: params._meta?.progressToken, ...todo };
  tasks.set(taskId, task);
  keepTasks();
  return send({ id, result: { task: stateOf(task) } });
}

/** @param {unknown} id @param {string} method @param {any} params */
function ofTask(id, method, params) {
  const task = tasks.get(params?.taskId);
  if (task === undefined) return fail(id, -32602, 'Failed to retrieve task: Task not found');
  const isOver = ['completed', 'failed', 'cancelled'].includes(task.status);
  if (method === 'tasks/get') {
    if (!isOver && ++task.step > task.steps) Object.assign(task, { status: task.ends ?? 'completed', statusMessage: undefined });
    else if (!isOver) {
      task.statusMessage = `step ${task.step} of the task`;
      send({ method: 'notifications/progress', params: { progressToken: task.token, progress: task.step, total: task.steps } });
    }
    keepTasks();
    send({ id, result: stateOf(task) });
    return deliver(task);
  }
  if (method === 'tasks/cancel') {
    if (isOver) return fail(id, -32602, `Cannot cancel task: already in terminal status '${task.status}'`);
    task.status = 'cancelled';
    keepTasks();
    send({ id, result: stateOf(task) });
    return deliver(task);
  }
  if (method !== 'tasks/result') return fail(id, -32601, `Method not found: ${method}`);
  waiting.set(task.taskId, [...(waiting.get(task.taskId) ?? []), id]);
  return deliver(task);
}

/**
 * Sends the result, once there is one, to every request that waits for it.
 * @param {any} task
 */
function deliver({ taskId, status, result }) {
  if (status === 'working' || status === 'input_required') return;
  for (const id of waiting.get(taskId) ?? []) {
    if (status === 'cancelled') fail(id, -32000, 'Task cancelled');
    else send({ id, result: { ...result, _meta: { 'io.modelcontextprotocol/related-task': { taskId } } } });
  }
  waiting.delete(taskId);
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
  const tool = tools.find((/** @type {{ name: string }} */ { name }) => name === params.name);
  const support = script.tasksFile === undefined ? 'none' : (tool.execution?.taskSupport ?? 'forbidden');
  if (support !== 'none' && (params.task === undefined ? support === 'required' : support === 'forbidden'))
    return fail(id, -32601, params.task === undefined ? `${params.name} is called as a task` : `${params.name} is not called as a task`);
  if (params.task !== undefined && support !== 'none') return begin(id, params, todo);
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
    if (todo.leaves) return send({ id, result: { content: [{ type: 'text', text: 'not waiting' }] } });
    return send({ id, result: { content: [{ type: 'text', text: `answered ${JSON.stringify(await answered)}` }] } });
  }
  if (todo.does === 'error') return fail(id, todo.code ?? -32000, todo.message);
  if (todo.does === 'raw') return process.stdout.write(`${todo.line}\n`);
  return send({ id, result: todo });
}
