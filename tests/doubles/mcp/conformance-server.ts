// For tests only: the server that the protocol's conformance suite examines. It uses the door's transport (sessions, both eras, streams)
// and HTTP server with its checks of Host and Origin, with the tools that the suite expects. `conformance-server.ts` prints its address.

import {
  acceptedContent,
  completable,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { randomBytes, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { systemClock } from '../../../core/base/clock.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import type { Claw } from '../../../core/contracts/claw.ts';
import type { DoorRoute } from '../../../core/contracts/door-route.ts';
import { createHttpDoor } from '../../../core/doors/http/http.ts';
import { loadTransport } from '../../../core/features/mcp-door/mcp-door.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };

type Work = (given: Record<string, never>, context: ServerContext) => Promise<CallToolResult | InputRequiredResult>;

function addPlainTools(server: McpServer): void {
  const tool = (name: string, work: Work): void => {
    server.registerTool(name, { description: name, inputSchema: z.object({}) }, work as never);
  };
  const embedded = (uri: string, mimeType: string, text: string) => ({ type: 'resource' as const, resource: { uri, mimeType, text } });
  tool('test_simple_text', () => Promise.resolve(said('This is a simple text response for testing.')));
  tool('test_image_content', () => Promise.resolve({ content: [image] }));
  tool('test_audio_content', () => Promise.resolve({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }));
  tool('test_embedded_resource', () =>
    Promise.resolve({ content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] }),
  );
  tool('test_multiple_content_types', () =>
    Promise.resolve({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  );
  tool('test_error_handling', () => Promise.reject(new Error('This tool intentionally returns an error for testing')));
  tool('test_tool_with_logging', async (_given, { mcpReq }) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data: line } });
    }
    return said('logged');
  });
  tool('test_tool_with_progress', async (_given, { mcpReq }) => {
    const { _meta: meta } = mcpReq;
    const progressToken = meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100])
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    return said('done');
  });
}

const titled = [1, 2, 3].map((at) => ({ const: `value${at}`, title: `${['First', 'Second', 'Third'][at - 1]} Option` }));
const forms: Readonly<Record<string, object>> = {
  test_elicitation: {
    properties: {
      username: { type: 'string', description: "User's response" },
      email: { type: 'string', description: "User's email address" },
    },
    required: ['username', 'email'],
  },
  test_elicitation_sep1034_defaults: {
    properties: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
  },
  test_elicitation_sep1330_enums: {
    properties: {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    },
  },
};

/** Asks as the door does: with a result that requests input, in both eras. */
function addQuestions(server: McpServer): void {
  for (const [name, form] of Object.entries(forms)) {
    server.registerTool(
      name,
      { description: name, inputSchema: z.object({ message: z.string().optional() }) },
      ({ message }, { mcpReq }) => {
        const answer = inputResponse(mcpReq.inputResponses, 'form');
        if (answer.kind === 'elicit')
          return said(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
        const requestedSchema = { type: 'object', ...form } as never;
        return inputRequired({ inputRequests: { form: inputRequired.elicit({ message: message ?? 'Please answer', requestedSchema }) } });
      },
    );
  }
  const named = z.object({ name: z.string() });
  server.registerTool(
    'test_input_required_result_elicitation',
    { description: 'asks', inputSchema: z.object({}) },
    (_given, { mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'user_name', named);
      if (answer !== undefined) return said(`Hello, ${answer.name}!`);
      return inputRequired({
        inputRequests: { user_name: inputRequired.elicit({ message: 'What is your name?', requestedSchema: named }) },
      });
    },
  );
}

const elicit = (message: string, properties: object) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) } as never });
const codec = createRequestStateCodec<{ readonly step: number }>({ key: randomBytes(32) });

/** Asks in several rounds, with state that travels through the client. */
function addRounds(server: McpServer): void {
  const tool = (name: string, work: Work): void => {
    server.registerTool(name, { description: name, inputSchema: z.object({}) }, work as never);
  };
  const stepOf = ({ mcpReq }: ServerContext): number => mcpReq.requestState<{ step: number }>()?.step ?? 0;
  const name = { name: { type: 'string' } };
  for (const one of ['test_input_required_result_request_state', 'test_input_required_result_tampered_state']) {
    tool(one, async (_given, context) => {
      if (stepOf(context) === 1) return said('state-ok');
      return inputRequired({
        inputRequests: { confirm: elicit('Please confirm', { ok: { type: 'boolean' } }) },
        requestState: await codec.mint({ step: 1 }),
      });
    });
  }
  tool('test_input_required_result_multi_round', async (_given, context) => {
    const step = stepOf(context);
    if (step === 2) return said('All rounds are done.');
    const asked =
      step === 0
        ? { step1: elicit('Step 1: What is your name?', name) }
        : { step2: elicit('Step 2: What is your favorite color?', { color: { type: 'string' } }) };
    return inputRequired({ inputRequests: asked, requestState: await codec.mint({ step: step + 1 }) });
  });
  tool('test_input_required_result_multiple_inputs', async (_given, context) => {
    if (stepOf(context) === 1) return said('Everything is there.');
    const words = { role: 'user' as const, content: { type: 'text' as const, text: 'Generate a greeting' } };
    const inputRequests = {
      user_name: elicit('What is your name?', name),
      greeting: inputRequired.createMessage({ messages: [words], maxTokens: 50 }),
      client_roots: inputRequired.listRoots(),
    };
    return inputRequired({ inputRequests, requestState: await codec.mint({ step: 1 }) });
  });
  server.registerPrompt('test_input_required_result_prompt', { description: 'asks first' }, (context) => {
    const answer = acceptedContent(context.mcpReq.inputResponses, 'user_context', z.object({ context: z.string() }));
    const text = `The context is ${answer?.context ?? 'unknown'}.`;
    if (answer !== undefined) return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
    return inputRequired({
      inputRequests: { user_context: elicit('What context should the prompt use?', { context: { type: 'string' } }) },
    });
  });
}

function addTexts(server: McpServer): void {
  const text = (uri: string, mimeType: string, content: string) => ({ contents: [{ uri, mimeType, text: content }] });
  const fixed = (name: string, content: string): void => {
    const uri = `test://${name}`;
    server.registerResource(name, uri, { mimeType: 'text/plain' }, () => text(uri, 'text/plain', content));
  };
  fixed('static-text', 'This is the content of the static text resource.');
  fixed('watched-resource', 'Watched');
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, () => ({
    contents: [{ uri: 'test://static-binary', mimeType: 'image/png', blob: PNG }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { mimeType: 'application/json' }, (uri, { id }) =>
    text(uri.href, 'application/json', JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` })),
  );
  const prompt = (...contents: object[]) => ({
    messages: contents.map((content) => ({ role: 'user' as const, content: content as never })),
  });
  const words = (content: string) => ({ type: 'text', text: content });
  server.registerPrompt('test_simple_prompt', { description: 'a prompt' }, () => prompt(words('This is a simple prompt for testing.')));
  const places = completable(z.string(), (begin) => ['paris', 'park', 'party'].filter((one) => one.startsWith(begin)));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'a prompt', argsSchema: z.object({ arg1: places, arg2: z.string() }) },
    ({ arg1, arg2 }) => prompt(words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'a prompt', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      prompt(
        { type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } },
        words('Please process the embedded resource above.'),
      ),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'a prompt' }, () =>
    prompt(image, words('Please analyze the image above.')),
  );
}

function make(): Promise<McpServer> {
  const server = new McpServer(
    { name: 'conformance', version: '1.0.0' },
    {
      capabilities: { logging: {}, completions: {}, resources: { subscribe: true }, tools: {}, prompts: {} },
      requestState: { verify: (state, context) => codec.verify(state, context) },
    },
  );
  addPlainTools(server);
  addQuestions(server);
  addRounds(server);
  addTexts(server);
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const) server.server.setRequestHandler(method, () => ({}));
  return Promise.resolve(server);
}

const { McpHttp } = await loadTransport();
const http = new McpHttp({ clock: systemClock, newId: randomUUID, make });
const peer = { id: 'suite', revoked: new AbortController().signal };
const paths = ['/mcp'];
const route: DoorRoute = {
  door: 'mcp',
  paths,
  owns: (path) => paths.includes(path),
  answer: (asked, reply) => http.answer(peer, asked, reply),
};
const door = createHttpDoor({
  claw: {} as Claw,
  routes: [route],
  token: randomUUID(),
  logger: silentLogger,
  clock: systemClock,
  assetsFolder: null,
  version: 'test',
});
const { url } = await door.listen({});
process.stdout.write(`${url}/mcp\n`);
process.once('SIGTERM', () => void door.close().then(() => process.exit(0)));
