import { expect, test } from 'vitest';
import * as z from 'zod';
import { configSchema } from '../../../core/contracts/config.ts';
import { channelFields, draftOf, startOf } from './channel-draft.ts';
import type { Schema } from './controls.ts';

const all = channelFields(z.toJSONSchema(configSchema, { io: 'input' }) as Schema);
const fieldsOf = (channel: string) => all.get(channel) ?? [];

test('the fields come from the schema: each service has its own, and its secrets are known', () => {
  expect([...all.keys()]).toEqual(['telegram', 'discord', 'email']);
  expect(fieldsOf('discord')[0]).toMatchObject({ name: 'token', title: 'Bot token', control: { isSecret: true } });
  const imap = fieldsOf('email').find(({ name }) => name === 'imap');
  expect(imap?.control.kind === 'fields' && imap.control.fields.map(({ name }) => name)).toEqual([
    'host',
    'port',
    'user',
    'password',
    'security',
  ]);
});

test('a typed secret goes to the keychain, and its name into the settings', () => {
  const start = startOf(fieldsOf('email'), undefined);
  expect(start).toEqual({ imap: {}, smtp: {} });
  const typed = { ...start, address: 'a@b.example', imap: { host: 'h', password: ' mail-password ' }, smtp: { host: 's' } };
  expect(draftOf('email', fieldsOf('email'), typed, undefined)).toEqual({
    settings: { address: 'a@b.example', imap: { host: 'h', password: 'keychain:email-imap-password' }, smtp: { host: 's' } },
    secrets: { 'email-imap-password': 'mail-password' },
  });
});

test.each([
  [undefined, 'keychain:mine', {}],
  ['new-token', 'keychain:mine', { mine: 'new-token' }],
  ['env:TOKEN', 'env:TOKEN', {}],
])('a secret that is typed again keeps its place: %s', (token, ref, secrets) => {
  expect(draftOf('discord', fieldsOf('discord'), { token }, { token: 'keychain:mine' })).toEqual({ settings: { token: ref }, secrets });
});
