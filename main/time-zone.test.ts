import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { needs } from '../tests/needs.ts';

const script = `
  import { symlinkSync, unlinkSync } from 'node:fs';
  import { followTimeZone } from ${JSON.stringify(new URL('./time-zone.ts', import.meta.url).href)};
  const zone = () => [Intl.DateTimeFormat().resolvedOptions().timeZone, new Date(0).getHours()].join(' ');
  const seen = [zone()];
  unlinkSync('/etc/localtime');
  symlinkSync('/usr/share/zoneinfo/Asia/Tokyo', '/etc/localtime');
  const stop = followTimeZone(process.env, 5);
  for (let tries = 0; tries < 400 && zone() === seen[0]; tries++) await new Promise((resolve) => setTimeout(resolve, 5));
  console.log([...seen, zone()].join(', '));
  stop();
`;

test.each([
  [undefined, 'Europe/Berlin 1, Asia/Tokyo 9'],
  ['America/Lima', 'America/Lima 19, America/Lima 19'],
])('the zone of the computer is followed, one of the environment stays: TZ=%s', needs('root on Linux, able to mount'), (TZ, seen) => {
  // Another /etc, for this process only.
  const own =
    'mount -t tmpfs tmpfs /etc && ln -s /usr/share/zoneinfo/Europe/Berlin /etc/localtime && exec "$0" --input-type=module -e "$1"';
  const env = { ...process.env, TZ };
  const { stdout, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', own, process.execPath, script], { encoding: 'utf8', env });
  expect([stdout, stderr]).toEqual([`${seen}\n`, '']);
});
