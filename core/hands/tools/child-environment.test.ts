import { expect, test } from 'vitest';
import { childEnvironment } from './child-environment.ts';

const secret = 'hunter2-hunter2';
const environment = {
  PATH: '/usr/bin',
  HOME: '/root',
  LC_ALL: 'C',
  SSL_CERT_FILE: '/etc/ssl/own.pem',
  LAB_API_TOKEN: secret,
  TRAYCLAW_VAULT_PASSPHRASE: secret,
  NODE_OPTIONS: secret,
};
const leaksIn = (given: Readonly<Record<string, string>>): string[] => Object.keys(given).filter((name) => given[name] === secret);

test('a command gets harmless variables and the marker, and no secret', () => {
  const given = childEnvironment(environment, { TRAYCLAW_CALL: 'c1' }, 'linux');
  expect(given).toEqual({ PATH: '/usr/bin', HOME: '/root', LC_ALL: 'C', SSL_CERT_FILE: '/etc/ssl/own.pem', TRAYCLAW_CALL: 'c1' });
  expect([leaksIn(given), leaksIn(environment)]).toEqual([[], ['LAB_API_TOKEN', 'TRAYCLAW_VAULT_PASSPHRASE', 'NODE_OPTIONS']]);
});
