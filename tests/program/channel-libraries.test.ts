// The libraries of the chat services in the real `serve`: each is loaded only if its service is configured. The long run also measures the
// idle memory of each, against a double or a real server.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { ChannelBench } from '../channels/conformance-rig.ts';
import { startDiscordBench } from '../doubles/discord/discord-bench.ts';
import { MailBench } from '../doubles/mail/mail-bench.ts';
import { startTelegramBench } from '../doubles/telegram/telegram-bench.ts';
import { freePort } from '../free-port.ts';
import { needs } from '../needs.ts';
import { cliFile } from '../program-file.ts';
import { isSoak } from '../soak.ts';
import { until } from '../until.ts';

const libraries = ['grammy', 'discordjs-rest', 'discordjs-ws', 'imapflow', 'nodemailer'];
const REST_MS = 20_000;

/** An address at which nothing listens. */
const nowhere = '127.0.0.1:9';
const idle: Pick<ChannelBench, 'channels' | 'environment' | 'stop'> = { channels: {}, stop: () => Promise.resolve() };
const away: Record<string, ConfigInput['channels']> = {
  telegram: { telegram: { token: 'env:TOKEN', apiRoot: `http://${nowhere}` } },
  discord: { discord: { token: 'env:TOKEN', apiRoot: `http://${nowhere}/api` } },
  email: {
    email: {
      address: 'a@tray.example',
      authserv: 'mx.tray.example',
      imap: { host: '127.0.0.1', port: 9, security: 'plain', password: 'env:TOKEN' },
      smtp: { host: '127.0.0.1', port: 9, security: 'plain' },
    },
  },
};
const benches: Record<string, () => Promise<typeof idle>> = {
  telegram: startTelegramBench,
  discord: () => startDiscordBench(),
  email: async () => (await MailBench.start()).bench,
};

async function serve({ channels, environment = {} }: Pick<ChannelBench, 'channels' | 'environment'>) {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-libraries-'));
  const loaded = join(home, 'loaded');
  writeFileSync(join(home, 'config.yaml'), JSON.stringify({ models: { default: 'demo/offline' }, channels }));
  const hook = new URL('loaded-files.mjs', import.meta.url).href;
  const child = spawn(process.execPath, ['--import', hook, cliFile, 'serve', '--port', String(await freePort())], {
    env: { PATH: process.env['PATH'], HOME: home, TRAYCLAW_HOME: home, LOADED_FILES: loaded, TOKEN: '1:token-of-a-test', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(home, { recursive: true, force: true });
  });
  await once(child.stdout, 'data');
  const files = (): string => (existsSync(loaded) ? readFileSync(loaded, 'utf8') : '');
  return {
    pid: child.pid ?? 0,
    libraries: () => libraries.filter((name) => new RegExp(`/chunks/${name}-[^/]+\\.js$`, 'm').test(files())),
  };
}

test.each([
  ['no channel', [], 'none'],
  ['telegram', ['grammy'], 'telegram'],
  ['discord', ['discordjs-rest', 'discordjs-ws'], 'discord'],
  // The library for sending is loaded once there is something to send.
  ['email', ['imapflow'], 'email'],
] as const)('with %s, serve loads %j of the libraries of chat services', async (_what, wanted, channel) => {
  const program = await serve({ channels: away[channel] ?? {} });
  await until(() => program.libraries().length >= wanted.length, 'the library is loaded');
  // Wait for further libraries, if there are any.
  await sleep(wanted.length === 0 ? 1_000 : 0);
  expect(program.libraries()).toEqual(wanted);
});

const measured = isSoak && process.platform === 'linux' ? ['none', 'telegram', 'discord', 'email'] : [];

test('the idle memory with each channel', { ...needs('Dovecot and aiosmtpd'), timeout: 300_000 }, async () => {
  const table: Record<string, string> = {};
  for (const channel of measured) {
    const bench = (await benches[channel]?.()) ?? idle;
    onTestFinished(() => bench.stop());
    const { pid } = await serve(bench);
    await sleep(REST_MS);
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const [rss, pss] = ['Rss', 'Pss'].map((name) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]) / 1024));
    table[channel] = `${rss} MB resident, ${pss} MB proportional`;
  }
  if (isSoak) process.stderr.write(`memory at rest: ${JSON.stringify(table, null, 2)}\n`);
  expect(Object.keys(table)).toEqual(measured);
});
