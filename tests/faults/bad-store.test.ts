// Data folders that are damaged, full, locked, too new or read-only: each case asserts the code, that the message names the cause, that
// there is a hint if something can be done, and that afterwards the log verifies and the session continues.

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ErrorBody } from '../../core/contracts/errors.ts';
import { AppError, createTrayClaw } from '../../core/index.ts';
import { BadInputRig, expectClear, failureOf, goodRule, sessionId, type Expected } from './bad-input-rig.ts';
import { needs } from '../needs.ts';

const isRoot = process.getuid?.() === 0;
let rig: BadInputRig;

beforeEach(async () => {
  rig = await BadInputRig.start();
});

afterEach(async () => {
  await rig.dispose();
});

interface StoreCase {
  readonly name: string;
  spoil(file: string): void;
  readonly expected: Expected;
}

const storeCases: StoreCase[] = [
  {
    name: 'a page of the database is garbage',
    spoil: (file) => {
      const bytes = readFileSync(file);
      bytes.fill(0xa5, 100, 4096);
      writeFileSync(file, bytes);
    },
    expected: { code: 'store_corrupt', says: /database file is damaged/ },
  },
  {
    name: 'the file is not a database',
    spoil: (file) => writeFileSync(file, 'a shopping list, '.repeat(600)),
    expected: { code: 'store_corrupt', says: /not a database/ },
  },
  {
    name: 'the file ends in the middle',
    spoil: (file) => truncateSync(file, 5_000),
    expected: { code: 'store_corrupt', says: /database file/ },
  },
  {
    name: 'a newer version wrote it',
    spoil: (file) => {
      const db = new Database(file);
      db.exec("INSERT INTO migrations (id, min_safe_version, applied_at_ms) VALUES ('9999-later', 99, 0)");
      db.close();
    },
    expected: { code: 'store_too_new', says: /written by a newer TrayClaw/ },
  },
];

test.each(storeCases)('store: $name', async (storeCase) => {
  const { expected } = storeCase;
  await rig.seed();
  const file = join(rig.home.path, 'trayclaw.db');
  copyFileSync(file, `${file}.kept`);
  storeCase.spoil(file);
  const spoiled = readFileSync(file);
  expectClear(await failureOf(rig.home.open({ config: rig.settings() })), expected);
  // The damaged file was not changed.
  expect(readFileSync(file).equals(spoiled)).toBe(true);
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
  copyFileSync(`${file}.kept`, file);
  await rig.expectWhole(await rig.home.open({ config: rig.settings() }));
});

test('store: the advice for a damaged database works literally', { timeout: 60_000 }, async () => {
  await rig.seed();
  rig.home.configure(rig.settings());
  await (await rig.home.open({ config: rig.settings() })).close();
  expect((await rig.home.command(['backup', 'create'])).code).toBe(0);
  writeFileSync(join(rig.home.path, 'trayclaw.db'), 'a shopping list, '.repeat(600));
  const { error } = (await rig.home.cli(['sessions', 'list'])).json as { error: ErrorBody };
  const [, words = ''] = /trayclaw ([a-z ]+)\./.exec(error.hint ?? '') ?? [];
  expect(await rig.home.command(words.split(' '))).toMatchObject({ code: 0 });
  await rig.expectWhole(await rig.home.open({ config: rig.settings() }));
});

test('store: a second program with the same folder', async () => {
  await rig.seed();
  const claw = await rig.home.open({ config: rig.settings() });
  expectClear(await failureOf(rig.home.open({ config: rig.settings() })), {
    code: 'store_locked',
    says: /Another TrayClaw is using .*home/,
  });
  await rig.expectWhole(claw);
});

test('store: the disk is full, then has space again', needs('root on Linux, able to mount'), async () => {
  const disk = join(rig.home.path, '..', 'disk');
  mkdirSync(disk);
  expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]).status).toBe(0);
  try {
    const options = { config: rig.settings() };
    rig.model.script([goodRule]);
    const claw = await createTrayClaw({ home: join(disk, 'home'), ...options });
    await claw.ask('remember', { sessionId });
    const filler = join(disk, 'filler');
    for (let mb = 0; mb < 8; mb++) spawnSync('sh', ['-c', `dd if=/dev/zero bs=4096 count=256 >> '${filler}' 2>/dev/null`]);
    let failure: ErrorBody | null = null;
    for (let n = 0; n < 200 && failure === null; n++) {
      const sent = claw.op('message.send', { text: `remember ${'x'.repeat(20_000)}`, sessionId: `more-${n}` });
      failure = await sent.then(
        () => null,
        (cause: unknown) => (cause instanceof AppError ? cause.toBody() : Promise.reject(cause as Error)),
      );
    }
    expectClear(failure ?? undefined, { code: 'store_full', says: /disk is full/ });
    rmSync(filler);
    await rig.expectWhole(claw);
    const { sessions } = await claw.op('session.list', { limit: 200 });
    expect(sessions.filter(({ status }) => status === 'running')).toEqual([]);
    await claw.close();
  } finally {
    spawnSync('umount', ['-l', disk]);
  }
});

test('store: a read-only data folder', needs('Linux'), async () => {
  await rig.seed();
  const script = `import { createTrayClaw } from ${JSON.stringify(new URL('../../core/index.ts', import.meta.url).href)};
    try { await createTrayClaw({ home: ${JSON.stringify(rig.home.path)}, config: {} }); console.log('{}'); }
    catch (cause) { console.log(JSON.stringify(cause.toBody?.() ?? { message: String(cause) })); }`;
  const node = [process.execPath, '--input-type=module-typescript', '-e', script];
  spawnSync('chmod', ['-R', 'a-w,a+rX', rig.home.path]);
  // Root may write anything, so the folder gets another owner and the process loses root's capabilities.
  if (isRoot) spawnSync('chown', ['-R', '65534:65534', rig.home.path]);
  const asNobody = isRoot ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search,-fowner', ...node] : node;
  const ran = spawnSync(asNobody[0] ?? '', asNobody.slice(1), { encoding: 'utf8' });
  if (isRoot) spawnSync('chown', ['-R', '0:0', rig.home.path]);
  spawnSync('chmod', ['-R', 'u+rwX', rig.home.path]);
  expect(ran.stderr).toBe('');
  expectClear(JSON.parse(ran.stdout) as ErrorBody, { code: 'store_readonly', says: /data folder|database file/ });
  await rig.expectWhole(await rig.home.open({ config: rig.settings() }));
});
