import { expect, onTestFinished, test } from 'vitest';
import { CountingIds } from '../../../tests/doubles/counting-ids.ts';
import { systemSessionId } from '../../contracts/events.ts';
import { looksLikeCode, Pairing } from '../../runtime/chats/chats.ts';
import { benchNames, openBench } from '../../../tests/rigs/core/features/channels/channel-bench.ts';

const cli = { channel: 'cli', actor: 'cli' } as const;
const overTelegram = { channel: 'telegram', actor: 'telegram:42' } as const;
const ada = { userId: '42', chatId: '42', name: 'Ada' };
const eve = { userId: '66', chatId: '66', name: 'Eve' };

function open() {
  const { clock, store, log } = openBench(onTestFinished);
  let drawn = 0;
  const pairing = new Pairing({
    log,
    store,
    names: benchNames,
    clock,
    ids: new CountingIds(),
    randomInt: (below) => (drawn++ * 7) % below,
  });
  const claim = (text: string, from = ada) => {
    const { result, drafts } = pairing.claim(text, from);
    log.append(systemSessionId, drafts);
    return result;
  };
  return { pairing, store, clock, log, claim };
}

test('pairs a person only after the desktop has confirmed the sender of the code', () => {
  const { pairing, store, claim } = open();
  const { code, pairingId } = pairing.offer(cli);
  expect(looksLikeCode(code)).toBe(true);
  expect(() => pairing.confirm(pairingId, cli)).toThrow(expect.objectContaining({ code: 'conflict' }) as Error);
  expect(claim(code.toLowerCase())).toBe('claimed');
  expect(store.person('42')).toBeNull();
  expect(() => pairing.confirm(pairingId, overTelegram)).toThrow(expect.objectContaining({ code: 'forbidden' }) as Error);
  expect(store.person('42')).toBeNull();
  pairing.confirm(pairingId, cli);
  expect(pairing.list()).toEqual({ people: [{ ...ada, pairedAtMs: expect.any(Number) as number }], pairings: [] });
});

test('a code works for one person, for one hour and once', () => {
  const { pairing, claim, clock, store } = open();
  const first = pairing.offer(cli);
  expect(claim(first.code)).toBe('claimed');
  expect(claim(first.code, eve)).toBe('wrong');
  pairing.confirm(first.pairingId, cli);
  expect(claim(first.code, eve)).toBe('wrong');
  const second = pairing.offer(cli);
  clock.advance(3_600_000);
  expect(claim(second.code, eve)).toBe('wrong');
  expect(() => pairing.confirm(second.pairingId, cli)).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
  expect(store.person('66')).toBeNull();
});

test('a code shown while the clock was ahead does not last until then', () => {
  const { pairing, claim, clock } = open();
  const { code, pairingId } = pairing.offer(cli);
  clock.advance(-31_536_000_000);
  expect(claim(code)).toBe('wrong');
  expect(pairing.list().pairings).toEqual([]);
  expect(() => pairing.confirm(pairingId, cli)).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
});

test('allows at most three pending codes; refusing one makes room', () => {
  const { pairing, claim } = open();
  const offers = [pairing.offer(cli), pairing.offer(cli), pairing.offer(cli)];
  expect(() => pairing.offer(cli)).toThrow(expect.objectContaining({ code: 'rate_limited' }) as Error);
  pairing.refuse(offers[0]?.pairingId ?? '', cli);
  expect(claim(offers[0]?.code ?? '')).toBe('wrong');
  expect(() => pairing.offer(cli)).not.toThrow();
});

test('limits wrong codes per person and in total, and then rejects the right code too', () => {
  const { pairing, claim, clock } = open();
  const { code } = pairing.offer(cli);
  for (let i = 0; i < 5; i++) expect(claim('23456789')).toBe('wrong');
  expect(claim(code)).toBe('too_many');
  for (let i = 0; i < 25; i++) expect(claim('23456789', { ...eve, userId: `u${i}` })).toBe('wrong');
  expect(claim(code, { ...eve, userId: 'fresh' })).toBe('too_many');
  clock.advance(3_600_001);
  expect(claim(pairing.offer(cli).code)).toBe('claimed');
});

test('revoking removes the person at once', () => {
  const { pairing, claim, store } = open();
  const { code, pairingId } = pairing.offer(cli);
  claim(code);
  pairing.confirm(pairingId, cli);
  expect(() => pairing.revoke('42', overTelegram)).toThrow(expect.objectContaining({ code: 'forbidden' }) as Error);
  pairing.revoke('42', cli);
  expect(store.person('42')).toBeNull();
  expect(() => pairing.revoke('42', cli)).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
});

test('the log never contains the code', () => {
  const { pairing, log, claim } = open();
  const { code } = pairing.offer(cli);
  claim(code);
  const told = JSON.stringify(log.reads.after(0, 100)).toUpperCase();
  expect(told).not.toContain(code);
});

test.each(['ABCD234', 'ABCD23450', 'ABCD234O', 'abcd 234', 'ABCDI345'])('%j is not a valid code', (text) => {
  expect(looksLikeCode(text)).toBe(false);
});
