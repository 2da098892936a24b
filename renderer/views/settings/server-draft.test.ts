// A link for an MCP server fills the form exactly or not at all.

import { expect, test } from 'vitest';
import { draftOfLink, emptyServer, serverOf } from './server-draft.ts';

test('a link fills the form, and the form says what is added', () => {
  const program = draftOfLink('name=files&command=npx&arg=-y&arg=a%20server&arg=%2Fhome');
  expect(program).toMatchObject({ isFromLink: true, kind: 'program', args: '-y\na server\n/home' });
  expect(serverOf(program ?? emptyServer())).toEqual({ name: 'files', command: 'npx', args: ['-y', 'a server', '/home'] });
  const address = draftOfLink('name=web&url=https%3A%2F%2Fa.example%2Fmcp');
  expect(serverOf(address ?? emptyServer())).toEqual({ name: 'web', url: 'https://a.example/mcp' });
});

test.each([
  '',
  'name=files',
  'command=npx',
  'name=Files&command=npx',
  'name=files&command=npx&url=https%3A%2F%2Fa.example',
  'name=files&command=npx&command=sh',
  'name=files&command=npx&env=A%3Db',
  'name=files&command=npx&confined=true',
  'name=files&command=npx&arg=a%0Ab',
  'name=web&url=javascript%3Aalert(1)',
  'name=web&url=file%3A%2F%2F%2Fetc',
  'name=web&url=https%3A%2F%2Fa.example&arg=x',
])('the link %j fills nothing', (query) => {
  expect(draftOfLink(query)).toBeNull();
});
