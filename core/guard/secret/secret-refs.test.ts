import { expect, test } from 'vitest';
import * as z from 'zod';
import { configSchema, secretRefSchema } from '../../contracts/config.ts';
import { secretRefsOf } from './secret-refs.ts';

const ref = (name: string): string => `keychain:${name}`;

const full = configSchema.parse({
  providers: {
    a: { kind: 'openai', apiKey: ref('openai'), keys: [ref('openai-2')] },
    b: { kind: 'anthropic', apiKey: ref('anthropic'), keys: [ref('anthropic-2')] },
    c: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1', apiKey: ref('compatible'), keys: [ref('compatible-2')] },
    e: { kind: 'cortensor', apiKey: ref('cortensor'), payment: ref('payment') },
    f: {
      kind: 'ai-sdk',
      package: '@ai-sdk/x',
      apiKey: ref('sdk'),
      keys: [ref('sdk-2')],
      options: { region: 'eu', secretKey: ref('sdk-option') },
    },
    d: { kind: 'demo' },
  },
  channels: {
    telegram: { token: ref('telegram') },
    discord: { token: ref('discord') },
    email: {
      address: 'me@example.org',
      imap: { host: 'example.org', password: ref('imap') },
      smtp: { host: 'example.org', password: ref('smtp') },
      secretWord: ref('secret-word'),
    },
  },
  signals: { webhooks: { lab: { secret: ref('hook') } } },
  web: { search: { provider: 'brave', apiKey: ref('brave') } },
  mcp: {
    servers: {
      files: { command: 'files', env: { KEY: ref('mcp-variable') } },
      web: {
        url: 'http://127.0.0.1:1/mcp',
        headers: { Authorization: ref('mcp-header') },
        clientId: 'known',
        clientSecret: ref('mcp-client'),
      },
    },
  },
  a2a: {
    peers: { box: { url: 'http://127.0.0.1:1', token: ref('peer') } },
    nats: {
      servers: 'x',
      password: ref('nats-pass'),
      token: ref('nats-token'),
      credentials: ref('nats-creds'),
      tls: { key: ref('nats-key') },
    },
  },
  browser: { passwords: { 'https://example.org': [ref('page-password')] }, pinchtab: { token: ref('pinchtab') } },
  ssh: { hosts: { box: { host: 'box', user: 'me', key: ref('ssh-key'), passphrase: ref('ssh-phrase') } } },
  telemetry: {
    otlp: { endpoint: 'http://127.0.0.1:1/v1/traces', headers: { authorization: ref('trace-header') } },
    langfuse: { baseUrl: 'http://127.0.0.1:1', publicKey: ref('trace-public'), secretKey: ref('trace-secret') },
  },
  embeddings: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1', model: 'm', apiKey: ref('embeddings') },
});

test('finds every setting that takes a secret', () => {
  const providers = [
    'openai',
    'openai-2',
    'anthropic',
    'anthropic-2',
    'compatible',
    'compatible-2',
    'cortensor',
    'payment',
    'sdk',
    'sdk-2',
    'sdk-option',
  ];
  const chats = ['telegram', 'discord', 'imap', 'smtp', 'secret-word'];
  const hands = ['page-password', 'pinchtab', 'ssh-key', 'ssh-phrase'];
  const nats = ['nats-pass', 'nats-token', 'nats-creds', 'nats-key'];
  const traces = ['trace-header', 'trace-public', 'trace-secret'];
  expect(secretRefsOf(full).sort()).toEqual(
    [
      ...providers,
      ...chats,
      'hook',
      'brave',
      'embeddings',
      'mcp-variable',
      'mcp-header',
      'mcp-client',
      'peer',
      ...nats,
      ...traces,
      ...hands,
    ]
      .map(ref)
      .sort(),
  );
});

test('finds as many settings as the schema has', () => {
  const pattern = (z.toJSONSchema(secretRefSchema) as { pattern: string }).pattern;
  const places = JSON.stringify(z.toJSONSchema(configSchema, { io: 'input' })).split(JSON.stringify(pattern)).length - 1;
  // The schema has two more places than the settings above: search is one of two services, and one value is matched by only one form.
  expect(places).toBe(secretRefsOf(full).length + 1);
});

test('ignores text that only looks like a reference', () => {
  const config = configSchema.parse({
    providers: { a: { kind: 'demo' } },
    web: { search: { provider: 'searxng', baseUrl: 'http://127.0.0.1:1' } },
  });
  expect(secretRefsOf(config)).toEqual([]);
});
