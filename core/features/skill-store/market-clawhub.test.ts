// The ClawHub registry as its documentation describes it: malware, suspicious and deleted skills, unknown content, skills hosted on GitHub,
// and rate limits. The fake answers only as the registry would.

import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { pax, rawTarGz, rawZip } from '../../../tests/doubles/raw-archive.ts';
import { ClawHubMarket, contentHashOf, fingerprint } from './market-clawhub.ts';
import type { StoreWeb, WebAnswer } from './store-web.ts';

const never = new AbortController().signal;
const text = '---\nname: weather\ndescription: Tells the weather of a place.\n---\n\nLook.\n';
const sha = (content: string): string => createHash('sha256').update(content).digest('hex');

interface Skill {
  readonly moderation?: Readonly<Record<string, unknown>>;
  readonly download: () => Partial<WebAnswer>;
  /** The content that the registry knows: fingerprint to version. */
  readonly known?: Readonly<Record<string, string>>;
}

function registry(skill: Skill, asked: string[] = []): StoreWeb {
  const json = (value: unknown): WebAnswer => ({
    url: '',
    status: 200,
    type: 'application/json',
    body: Buffer.from(JSON.stringify(value)),
  });
  const failed = (status: number, sentence: string): WebAnswer => ({ url: '', status, type: 'text/plain', body: Buffer.from(sentence) });
  const one = { slug: 'weather', displayName: 'Weather', summary: 'Tells the weather.' };
  return {
    ask: (address) => {
      const url = new URL(address);
      asked.push(`${url.pathname}${url.search}`);
      const { searchParams: query } = url;
      if (url.host !== 'clawhub.test')
        return Promise.resolve({ url: '', status: 200, type: 'application/gzip', body: Buffer.alloc(0), ...skill.download() });
      switch (url.pathname) {
        case '/api/v1/search':
          return Promise.resolve(json({ results: [{ score: 1, ...one, version: '1.2.0', updatedAt: 1, ownerHandle: 'ann' }] }));
        case '/api/v1/skills/weather':
          return Promise.resolve(json({ skill: one, latestVersion: { version: '1.2.0' }, owner: { handle: 'ann' }, moderation: skill.moderation ?? null })); // prettier-ignore
        case '/api/v1/skills/weather/versions':
          return Promise.resolve(json({ items: [{ version: '1.2.0', createdAt: 1 }, { version: '1.1.0', createdAt: 0 }], nextCursor: null })); // prettier-ignore
        case '/api/v1/download':
          return Promise.resolve({ url: '', status: 200, type: 'application/zip', body: Buffer.alloc(0), ...skill.download() });
        case '/api/v1/resolve': {
          const hash = query.get('hash') ?? '';
          if (!/^[0-9a-f]{64}$/.test(hash)) return Promise.resolve(failed(400, 'hash must be 64 hex characters'));
          const version = skill.known?.[hash];
          return Promise.resolve(
            json({ slug: 'weather', match: version === undefined ? null : { version }, latestVersion: { version: '1.2.0' } }),
          );
        }
        default:
          return Promise.resolve(failed(404, 'Not found'));
      }
    },
  };
}

const zip = (content = text): Buffer => rawZip([{ name: 'SKILL.md', data: content }, { name: '_meta/.hidden', data: 'x' }]); // prettier-ignore
const marketOf = (skill: Skill, asked: string[] = []) => new ClawHubMarket('hub', 'https://clawhub.test/', registry(skill, asked));
const newest = async (market: ClawHubMarket) => {
  const found = (await market.offers('weather', never)).find(({ version }) => version === '1.2.0');
  if (found === undefined) throw new Error('no offer');
  return found;
};

test('fingerprints follow the documentation: sorted lines, no dotfiles', () => {
  const files = new Map([['b.md', Buffer.from('2')], ['a/.x', Buffer.from('3')], ['a.md', Buffer.from('1')]] as const); // prettier-ignore
  expect(fingerprint(files)).toBe(sha(`a.md:${sha('1')}\nb.md:${sha('2')}`));
  expect(contentHashOf(files)).toBe(sha(`a.md\u{0}1\u{0}${sha('1')}\na/.x\u{0}1\u{0}${sha('3')}\nb.md\u{0}1\u{0}${sha('2')}`));
});

test('a version is delivered when the registry knows its content as that version', async () => {
  const print = fingerprint(new Map([['SKILL.md', Buffer.from(text)]]));
  const asked: string[] = [];
  const market = marketOf({ download: () => ({ body: zip() }), known: { [print]: '1.2.0' } }, asked);
  expect((await market.search('weather', never)).map(({ name, publisher }) => [name, publisher])).toEqual([['weather', 'ann']]);
  const { source, risks } = await (await newest(market)).deliver(never);
  expect(source).toMatchObject({
    ref: 'hub/weather',
    publisher: 'ann',
    verified: 'The registry confirmed its fingerprint as that of version 1.2.0.',
  });
  expect(risks).toEqual([]);
  expect(asked.at(-1)).toBe(`/api/v1/resolve?slug=weather&hash=${print}`);
});

test('content that the registry does not know, or knows as another version, is refused', async () => {
  const print = fingerprint(new Map([['SKILL.md', Buffer.from(text)]]));
  for (const known of [{}, { [print]: '1.1.0' }]) {
    const offer = await newest(marketOf({ download: () => ({ body: zip() }), known }));
    await expect(offer.deliver(never)).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringContaining('does not know') as string,
    });
  }
});

test('blocked skills are withdrawn, suspicious ones are a danger, deleted ones fail', async () => {
  const blocked = await newest(marketOf({ moderation: { isMalwareBlocked: true, summary: 'It steals keys.' }, download: () => ({}) }));
  expect(blocked.revoked).toBe('the registry blocked it as malware (It steals keys.)');
  const print = fingerprint(new Map([['SKILL.md', Buffer.from(text)]]));
  const suspected = marketOf({ moderation: { isSuspicious: true, reasonCodes: ['network', 'secrets'] }, download: () => ({ body: zip() }), known: { [print]: '1.2.0' } }); // prettier-ignore
  expect((await (await newest(suspected)).deliver(never)).risks).toMatchObject([{ level: 'danger', message: 'The registry calls it suspicious: network, secrets.' }]); // prettier-ignore
  const deleted = await newest(marketOf({ download: () => ({ status: 410 }) }));
  await expect(deleted.deliver(never)).rejects.toMatchObject({ code: 'denied', message: expect.stringContaining('deleted it') as string });
});

test('a skill on GitHub must have the content that the registry pinned', async () => {
  const commit = 'c'.repeat(40);
  const archive = rawTarGz([
    { name: 'pax_global_header', kind: 'g', data: pax('comment', commit) },
    { name: 'tools-main/readme.md', data: 'Tools.' },
    { name: 'tools-main/skills/weather/SKILL.md', data: text },
  ]);
  const pinned = contentHashOf(new Map([['SKILL.md', Buffer.from(text)]]));
  const deliver = async (contentHash: string) => {
    const about = {
      sourceRef: 'public-github',
      repo: 'ann/tools',
      commit,
      path: 'skills/weather',
      contentHash,
      archiveUrl: 'https://codeload.github.test/x',
    };
    let calls = 0;
    const download = (): Partial<WebAnswer> => {
      calls += 1;
      return calls === 1 ? { type: 'application/json', body: Buffer.from(JSON.stringify(about)) } : { body: archive };
    };
    return (await newest(marketOf({ download }))).deliver(never);
  };
  expect((await deliver(pinned)).source).toMatchObject({ commit, from: 'https://codeload.github.test/x', verified: 'Its content has the hash that the registry pinned.' }); // prettier-ignore
  await expect(deliver('0'.repeat(64))).rejects.toMatchObject({ code: 'denied', message: expect.stringContaining('not what the registry pinned') as string }); // prettier-ignore
});

test('an error keeps the sentence of the registry, and its limit gets a hint', async () => {
  const limited = await newest(marketOf({ download: () => ({ status: 429, body: Buffer.from('Too many downloads.') }) }));
  await expect(limited.deliver(never)).rejects.toMatchObject({
    message: 'clawhub.test answered 429 (Too many downloads.).',
    data: { hint: 'Wait a minute; the registry limits how often it may be asked.' },
  });
});
