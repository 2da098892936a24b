// Access to the local server: every Host × Origin × kind of request that a page of another site could make a browser send, each with the
// correct token, over raw sockets. The event log shows any change of state.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { createHttpDoor, type DoorChecks, type HttpDoor } from '../../core/doors/http/http.ts';
import type { TrayClaw } from '../../core/index.ts';
import { sendRaw } from './raw-http.ts';
import { TestHome } from './test-home.ts';

const token = 'the-right-token-of-this-door';

let home: TestHome;
let claw: TrayClaw;
let doors: HttpDoor[];

beforeEach(async () => {
  home = new TestHome();
  doors = [];
  claw = await home.open({ config: { models: { default: 'demo/offline' } } });
});

afterEach(async () => {
  for (const door of doors) await door.close();
  await home.dispose();
});

async function listen(replaceChecks?: (real: DoorChecks) => DoorChecks): Promise<number> {
  const door = createHttpDoor({
    claw,
    token,
    logger: silentLogger,
    clock: systemClock,
    assetsFolder: null,
    version: 'test',
    ...(replaceChecks === undefined ? {} : { replaceChecks }),
  });
  doors.push(door);
  return (await door.listen({})).port;
}

/** Lines of the head, by name. */
const foreignHosts: Readonly<Record<string, (port: number) => readonly string[]>> = {
  'evil.com': () => ['Host: evil.com'],
  'evil.com:port': (port) => [`Host: evil.com:${port}`],
  'localhost.': (port) => [`Host: localhost.:${port}`],
  '127.0.0.1.nip.io': (port) => [`Host: 127.0.0.1.nip.io:${port}`],
  '[::1]': (port) => [`Host: [::1]:${port}`],
  '0.0.0.0': (port) => [`Host: 0.0.0.0:${port}`],
  empty: () => ['Host:'],
  duplicate: (port) => [`Host: 127.0.0.1:${port}`, `Host: 127.0.0.1:${port}`],
};
const ownHosts: typeof foreignHosts = {
  '127.0.0.1:port': (port) => [`Host: 127.0.0.1:${port}`],
  'localhost:port': (port) => [`Host: localhost:${port}`],
};

const origins: Readonly<Record<string, (own: string) => string | null>> = {
  null: () => 'null',
  'http://evil': () => 'http://evil.com',
  'http://localhost:other': () => 'http://localhost:1',
  'file://': () => 'file://',
  absent: () => null,
  exact: (own) => `http://${own}`,
};

const form = 'application/x-www-form-urlencoded';
const kinds: Readonly<
  Record<string, { readonly request: string; readonly lines: readonly string[]; readonly body: string; readonly own: number }>
> = {
  GET: { request: 'GET', lines: [], body: '', own: 405 },
  'POST form': { request: 'POST', lines: [`Content-Type: ${form}`], body: 'title=crossed', own: 415 },
  'POST json': { request: 'POST', lines: ['Content-Type: application/json'], body: '{"title":"crossed"}', own: 200 },
  WebSocket: {
    request: 'GET',
    lines: ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
    body: '',
    own: 405,
  },
};

interface Sweep {
  readonly cells: number;
  readonly wrong: readonly string[];
  /** The number of sessions that were created. */
  readonly changes: number;
}

async function sweep(port: number, hosts: typeof foreignHosts, isOwn: boolean): Promise<Sweep> {
  const wrong: string[] = [];
  let cells = 0;
  const before = await countEvents();
  for (const [hostName, host] of Object.entries(hosts)) {
    for (const [originName, origin] of Object.entries(origins)) {
      for (const [kindName, kind] of Object.entries(kinds)) {
        const hostLines = host(port);
        const value = origin((hostLines[0] ?? '').slice('Host: '.length));
        const lines = [
          `${kind.request} /api/ops/session.create HTTP/1.1`,
          ...hostLines,
          ...(value === null ? [] : [`Origin: ${value}`]),
          `Authorization: Bearer ${token}`,
          ...kind.lines,
          ...(kindName === 'WebSocket' ? [] : ['Connection: close']),
          `Content-Length: ${kind.body.length}`,
        ];
        const isAllowed = isOwn && (originName === 'absent' || originName === 'exact');
        const { status, head } = await sendRaw(port, `${lines.join('\r\n')}\r\n\r\n${kind.body}`);
        const expected = isAllowed ? kind.own : 403;
        const hasCors = /^access-control-/im.test(head);
        const hasPolicy = /^referrer-policy: no-referrer$/im.test(head);
        cells += 1;
        if (status !== expected || hasCors || !hasPolicy)
          wrong.push(`${hostName} × ${originName} × ${kindName}: ${status}, not ${expected}`);
      }
    }
  }
  return { cells, wrong, changes: (await countEvents()) - before };
}

async function countEvents(): Promise<number> {
  const { events } = await claw.op('audit.verify', {});
  return events;
}

test('8 wrong Hosts × 6 Origins × 4 kinds: 192 refusals, and no event in the log', { timeout: 60_000 }, async () => {
  const port = await listen();
  expect(await sweep(port, foreignHosts, false)).toEqual({ cells: 192, wrong: [], changes: 0 });
});

test('with the right Host only no Origin or the exact one is accepted, and only JSON', async () => {
  const port = await listen();
  expect(await sweep(port, ownHosts, true)).toEqual({ cells: 48, wrong: [], changes: 4 });
});

test('control: without the check of Host and Origin both sweeps report it', { timeout: 60_000 }, async () => {
  const port = await listen((real) => ({ ...real, refusePlace: () => null }));
  const foreign = await sweep(port, foreignHosts, false);
  // Every combination is answered as if it were ours, and each of the 48 with JSON creates a session.
  expect([foreign.wrong.length, foreign.changes]).toEqual([192, 48]);
  const own = await sweep(port, ownHosts, true);
  expect([own.wrong.length, own.changes]).toEqual([32, 12]);
});

test('the token is accepted only in its place; control: without that check all pass', async () => {
  const places: readonly (readonly [string, string])[] = [
    ['/api/ops/session.create', 'X-Nothing: 1'],
    [`/api/ops/session.create?token=${token}&access_token=${token}&authorization=Bearer%20${token}`, 'X-Nothing: 1'],
    ['/api/ops/session.create', `Cookie: token=${token}; authorization=Bearer ${token}`],
    ['/api/ops/session.create', `X-Api-Key: ${token}`],
    ['/api/ops/session.create', `Proxy-Authorization: Bearer ${token}`],
    ['/api/ops/session.create', `Authorization: Basic ${token}`],
    ['/api/ops/session.create', `Authorization: Bearer ${token.slice(0, -1)}`],
    ['/api/ops/session.create', `Authorization: Bearer ${token} x`],
    ['/api/ops/session.create', 'Authorization: Bearer'],
  ];
  const check = async (port: number): Promise<string[]> => {
    const letIn: string[] = [];
    for (const [path, line] of places) {
      const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${line}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
      const { status } = await sendRaw(port, head);
      if (status !== 401) letIn.push(`${status} ${path.slice(0, 40)} ${line.slice(0, 20)}`);
    }
    return letIn;
  };
  const before = await countEvents();
  expect(await check(await listen())).toEqual([]);
  expect((await countEvents()) - before).toBe(0);
  expect(await check(await listen((real) => ({ ...real, judgeToken: () => ({ kind: 'right' }) })))).toHaveLength(places.length);
});

test('forwarding headers are never read: they grant and block nothing', async () => {
  const port = await listen();
  const lines = [
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-Host: evil.com',
    'Forwarded: for=127.0.0.1;host=evil.com',
    'X-Real-IP: 10.0.0.1',
  ];
  const send = async (host: string, auth: string): Promise<number> => {
    const head = `POST /api/ops/panic.status HTTP/1.1\r\nHost: ${host}\r\n${auth}${lines.join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
    return (await sendRaw(port, head)).status;
  };
  expect(await send(`127.0.0.1:${port}`, '')).toBe(401);
  expect(await send(`127.0.0.1:${port}`, `Authorization: Bearer ${token}\r\n`)).toBe(200);
  expect(await send('evil.com', `Authorization: Bearer ${token}\r\n`)).toBe(403);
});

test('guessing stops after ten tries a minute, never the person; control: no lockout', async () => {
  const check = async (port: number): Promise<{ judged: number; person: number }> => {
    const send = async (given: string): Promise<number> => {
      const head = `POST /api/ops/panic.status HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${given}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
      return (await sendRaw(port, head)).status;
    };
    let judged = 0;
    for (let i = 0; i < 40; i++) if ((await send(`guess-${i}`)) === 401) judged += 1;
    return { judged, person: await send(token) };
  };
  expect(await check(await listen())).toEqual({ judged: 10, person: 200 });
  const patient = await listen((real) => ({
    ...real,
    judgeToken: (header) => {
      const verdict = real.judgeToken(header);
      return verdict.kind === 'locked' ? { kind: 'wrong' } : verdict;
    },
  }));
  expect(await check(patient)).toEqual({ judged: 40, person: 200 });
});
