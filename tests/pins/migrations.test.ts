// Migrations: every migration declared in the sources is applied here, twice, to a database with data.

import { readdirSync, readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../doubles/manual-clock.ts';
import { builtInFeatures } from '../../core/compose-features.ts';
import { migrationsOf } from '../../core/compose-spine.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { PolicyStore } from '../../core/guard/policy/policy.ts';
import { SessionLog } from '../../core/store/session/session.ts';
import { Storage } from '../../core/store/storage/storage.ts';

const core = join(import.meta.dirname, '../../core');
const migrations = migrationsOf(builtInFeatures.all);

function schemaOf({ db }: Storage): unknown {
  return db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE ? ORDER BY type, name').all('sqlite_%');
}

test('every migration declared in the sources is applied here', () => {
  const declared = readdirSync(core, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(core, file), 'utf8'))
    .flatMap((source) => [
      ...source.matchAll(/\bid: '([^']+)',\s+minSafeVersion/g),
      ...[...source.matchAll(/^( *)[^\n]*\bsqlMigrations\(\{(.*?)^\1\}\)/gms)].flatMap(([, indent = '', body = '']) => [
        ...body.matchAll(new RegExp(`^${indent} {2}'?([\\w-]+)'?:`, 'gm')),
      ]),
    ])
    .map((match) => match[1]);
  expect(new Set(declared)).toEqual(new Set(migrations.map((migration) => migration.id)));
});

test('ids are unique and numbered in the order they are applied', () => {
  const ids = migrations.map((migration) => migration.id);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(migrations.every((migration) => migration.minSafeVersion >= 1)).toBe(true);
});

test('each migration can run again on data and changes nothing', () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-migrations-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const first = Storage.open({ home, migrations });
  const log = new SessionLog({ storage: first, clock: new ManualClock(), logger: silentLogger, projections: [new PolicyStore(first.db)] });
  log.append('ses_1', [{ type: 'session.created', body: { title: 'T', agentId: 'main', channel: 'cli', forkedFrom: null } }], true);
  log.search.find('t', 1);
  const schema = schemaOf(first);
  const rows = ['events', 'heads', 'sessions', 'session_text'].map((table) => first.db.prepare(`SELECT * FROM ${table}`).all());
  // As after a crash between a migration and the record that it ran.
  first.db.exec('DELETE FROM migrations');
  first.dispose();

  const second = Storage.open({ home, migrations });
  onTestFinished(() => second.dispose());
  expect(schemaOf(second)).toEqual(schema);
  expect(['events', 'heads', 'sessions', 'session_text'].map((table) => second.db.prepare(`SELECT * FROM ${table}`).all())).toEqual(rows);
  expect(second.db.prepare('SELECT id FROM migrations ORDER BY id').all()).toEqual(migrations.map(({ id }) => ({ id })));
});
