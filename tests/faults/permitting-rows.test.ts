// Rows of the database that permit something and that no event explains: a row that was put in, changed, or brought back after it was
// spent. The audit names each of them, and how to take it back.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from './test-home.ts';

let home: TestHome;
beforeAll(async () => {
  home = new TestHome();
  home.configure({ models: { default: 'demo/offline' } });
  const claw = await home.open();
  await allow(claw, 'sub/b.md', { kind: 'once' });
  await claw.op('grant.revoke', { grantId: await allow(claw, 'other/c.md', { kind: 'always' }) });
  await allow(claw, 'a.md', { kind: 'always' });
  await claw.op('memory.add', { text: 'Ada likes tea.' });
  const { sessionId } = await claw.op('session.create', { title: 'planned' });
  await claw.op('session.configure', { sessionId, planFirst: 'whole' });
  await claw.op('session.fork', { sessionId, title: 'copy' });
  await claw.close();
});
afterAll(() => home.dispose());

async function allow(claw: TrayClaw, path: string, scope: { kind: 'always' | 'once' }): Promise<string> {
  const { turnId, pending } = await claw.op('tool.run', { tool: 'write_file', args: { path, content: 'x' }, wait: false });
  await claw.op('approval.decide', { approvalId: pending?.[0]?.approvalId ?? '', decision: 'approve', scope });
  await claw.op('turn.wait', { turnId });
  const { grants } = await claw.op('grant.list', { all: true });
  return grants[0]?.grantId ?? '';
}

/** Changes the database while the program does not run, asks the audit, and takes the change back. */
async function auditAfter(change: string, back: string): Promise<unknown> {
  const run = (sql: string): void => {
    const db = new DatabaseSync(join(home.path, 'trayclaw.db'));
    db.exec(sql);
    db.close();
  };
  run(change);
  const claw = await home.open();
  const { ok, faults = [] } = await claw.op('audit.verify', {});
  await claw.close();
  run(back);
  return [
    ok,
    faults.map(
      ({ kind, detail, hint }) =>
        `${kind}: ${detail.replace(/(?:grt|apr|mem|ses)_\w+/, 'ID')} ${hint.replace(/(?:grt|apr|mem|ses)_\w+/, 'ID')}`,
    ),
  ];
}

const told = (what: string, undo: string): unknown => [
  false,
  [`permission: ${what} is not in the log as it is in the database. Take it back, unless you changed the database yourself: ${undo}`],
];

test('control: rows that events explain', async () => {
  expect(await auditAfter('SELECT 1', 'SELECT 1')).toEqual([true, []]);
});

const live = `(SELECT grant_id FROM grants WHERE live = 1)`;
const like = (scope: string): string => `body LIKE '%"kind":"${scope}"%'`;
const bringBack = (which: string, at: string): string =>
  `UPDATE grants SET live = 1, body = json_set(body, '$.${at}', NULL) WHERE ${which} AND json_extract(body, '$.${at}') IS NOT NULL`;
const grant = told('The grant ID', 'trayclaw grants revoke ID');

test.each([
  [
    'a grant that is wider than it was',
    `UPDATE grants SET body = replace(body, '"folder":"', '"folder":"/') WHERE grant_id IN ${live}`,
    `UPDATE grants SET body = replace(body, '"folder":"/', '"folder":"') WHERE grant_id IN ${live}`,
    grant,
  ],
  ['a grant that was spent', bringBack(like('once'), 'spentAtMs'), `UPDATE grants SET live = 0 WHERE ${like('once')}`, grant],
  [
    'a grant that was revoked',
    bringBack(like('always'), 'revokedAtMs'),
    `UPDATE grants SET live = 0 WHERE grant_id = (SELECT json_extract(body, '$.grantId') FROM events WHERE type = 'grant.revoked')`,
    grant,
  ],
  [
    'a token',
    `INSERT INTO door_tokens (token_id, door, name, digest, body, created_at_ms) VALUES
     ('dtk_x', 'openai', 'x', 'd', '{"tokenId":"dtk_x","door":"openai","name":"x","scopes":["agents"],"perMinute":60,"perDayUsd":null}', 1)`,
    'DELETE FROM door_tokens',
    told('The token dtk_x', 'trayclaw doors token revoke dtk_x'),
  ],
  [
    'an MCP server',
    `INSERT INTO mcp_approvals VALUES ('files', 'd', 's', 'legacy', '[]')`,
    'DELETE FROM mcp_approvals',
    told('The approval of the MCP server files', 'trayclaw mcp remove files'),
  ],
  [
    'a skill',
    `INSERT INTO skill_trust VALUES ('/s/x', 'content', 'f')`,
    'DELETE FROM skill_trust',
    told('The trust in the skill at /s/x', 'trayclaw skills trust --revoke, with the name of the skill'),
  ],
  [
    'a plugin',
    `INSERT INTO plugin_approvals VALUES ('/p.mjs', 'f')`,
    'DELETE FROM plugin_approvals',
    told('The approval of the plugin /p.mjs', 'remove /p.mjs from plugins.files in config.yaml'),
  ],
  [
    'instructions',
    `INSERT INTO project_accepted VALUES ('/w', 'f')`,
    'DELETE FROM project_accepted',
    told('The acceptance of the instructions in /w', 'trayclaw folders withdraw /w'),
  ],
  [
    'a memory that says something else',
    `UPDATE memories SET text = 'Ada likes Mallory.'`,
    `UPDATE memories SET text = 'Ada likes tea.'`,
    told('The memory ID', 'trayclaw memory forget ID'),
  ],
  [
    'a memory that hides its sources',
    `UPDATE memories SET untrusted = '[{"kind":"web","where":"x"}]'`,
    `UPDATE memories SET untrusted = '[]'`,
    told('The memory ID', 'trayclaw memory forget ID'),
  ],
  [
    'a memory that is kept',
    `INSERT INTO memories (memory_id, state, kind, scope, text, text_key, importance, pinned, created_at_ms, used_at_ms, origin, untrusted)
     VALUES ('mem_x', 'kept', 'fact', 'shared', 'x', 'x', 1, 1, 1, 1, '{}', '[]')`,
    `DELETE FROM memories WHERE memory_id = 'mem_x'`,
    told('The memory ID', 'trayclaw memory forget ID'),
  ],
  [
    'a person',
    `INSERT INTO channel_people VALUES ('telegram', '666', '666', 'Mallory', 1)`,
    'DELETE FROM channel_people',
    told('The pairing of telegram 666', 'trayclaw channels revoke telegram 666'),
  ],
  [
    'a session in another folder',
    `UPDATE sessions SET workspace = '/' WHERE title = 'planned'`,
    `UPDATE sessions SET workspace = NULL WHERE title = 'planned'`,
    told('The folder of the session ID', 'trayclaw sessions delete ID'),
  ],
  [
    'a session without its plan',
    `UPDATE sessions SET plan_first = NULL WHERE title = 'planned'`,
    `UPDATE sessions SET plan_first = 'whole' WHERE title = 'planned'`,
    told('The plan mode of the session ID', 'trayclaw sessions delete ID'),
  ],
])('the audit names %s without an event', async (_name, change, back, expected) => {
  expect(await auditAfter(change, back)).toEqual(expected);
});

test('rows that cannot be read permit nothing, stop nothing, and are named', async () => {
  const sql = (change: string): void => {
    const db = new DatabaseSync(join(home.path, 'trayclaw.db'));
    db.exec(change);
    db.close();
  };
  sql(`INSERT INTO grants VALUES ('grt_a', 1, 1, '{}'), ('grt_b', 1, 1, '{');
    INSERT INTO approvals VALUES ('apr_a', 'pending', 's', 'c', 1, '{}'), ('apr_b', 'pending', 's', 'c', 1, '{')`);
  const claw = await home.open();
  expect(await claw.op('tool.run', { tool: 'calc', args: { expression: '1 + 1' } })).toMatchObject({ outcome: 'ok' });
  const asked = await claw.op('tool.run', { tool: 'exec', args: { command: 'touch x' }, wait: false });
  expect([asked.outcome, (await claw.op('approval.list', {})).approvals.length]).toEqual(['waiting', 1]);
  expect((await claw.op('grant.list', {})).grants.length).toBe(1);
  const { faults = [] } = await claw.op('audit.verify', {});
  expect(faults.map(({ detail }) => /(?:grt|apr)_\w/.exec(detail)?.[0])).toEqual(['grt_a', 'grt_b', 'apr_a', 'apr_b']);
  await claw.close();
});
