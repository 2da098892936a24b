import { expect, test } from 'vitest';
import { SignIn, type SignInProvider } from './sign-in.ts';
import { SignInFlow } from './sign-in-flow.ts';

const server = new URL('https://a.example/mcp');
const tokens = { access_token: 'a-token', token_type: 'Bearer' };

function keychain() {
  const kept = new Map<string, string>();
  const guarded: string[] = [];
  const box = {
    resolve: (ref: string) => Promise.resolve(kept.get(ref.slice('keychain:'.length)) ?? ''),
    set: (name: string, value: string) => Promise.resolve(kept.set(name, value)).then(() => ({ isKeptOut: true })),
    delete: (name: string) => Promise.resolve(kept.delete(name)),
    guard: (value: string) => guarded.push(value) > 0,
  };
  return { box, kept, guarded };
}

/** A server that requires a sign-in `rounds` times. */
function flowOf(rounds: number, signIn: SignIn) {
  let round = 0;
  const finished: string[] = [];
  let used: SignInProvider | null = null;
  const flow = new SignInFlow(signIn, {
    signal: new AbortController().signal,
    connect: async (provider) => {
      used = provider;
      if (round++ >= rounds) return null;
      await provider.redirectToAuthorization(new URL(`https://sign.example/?state=${provider.state()}&back=${provider.redirectUrl}`));
      const transport = {
        finishAuth: (params: URLSearchParams) => {
          finished.push(params.get('code') ?? '');
          return provider.saveTokens(tokens);
        },
      };
      return transport as never;
    },
  });
  return { flow, finished, provider: () => used };
}

const answerTo = (address: string | null, change: (params: URLSearchParams) => void = () => undefined): string => {
  const asked = new URL(address ?? '');
  const params = new URLSearchParams({ code: 'c1', state: asked.searchParams.get('state') ?? '' });
  change(params);
  return `${asked.searchParams.get('back') ?? ''}?${params.toString()}`;
};

test('accepts only the answer to this sign-in, and only once', async () => {
  const { box, kept, guarded } = keychain();
  const signIn = new SignIn(box, 's', server);
  const { flow, finished } = flowOf(1, signIn);
  const address = await flow.address;
  for (const state of ['', 'x', 'A'.repeat(43)]) {
    const refused = await fetch(answerTo(address, (params) => params.set('state', state)));
    expect(refused.status).toBe(400);
  }
  expect((await fetch(answerTo(address).replace('/callback', '/other'))).status).toBe(404);
  expect(finished).toEqual([]);
  expect((await fetch(answerTo(address))).status).toBe(200);
  await flow.done;
  expect(finished).toEqual(['c1']);
  expect(JSON.parse(kept.get('mcp-sign-in-s') ?? '{}')).toMatchObject({ url: server.href, tokens });
  expect(guarded).toContain('a-token');
  await expect(fetch(answerTo(address))).rejects.toThrow('fetch failed');
});

test('uses a sign-in only for the server it was made for', async () => {
  const { box } = keychain();
  const { flow } = flowOf(1, new SignIn(box, 's', server));
  await fetch(answerTo(await flow.address));
  await flow.done;
  expect((await new SignIn(box, 's', server).provider())?.tokens()).toEqual(tokens);
  expect(await new SignIn(box, 's', new URL('https://b.example/mcp')).provider()).toBeNull();
});

test('a server may ask at most three times', async () => {
  const { box } = keychain();
  for (const [rounds, isFine] of [
    [3, true],
    [4, false],
  ] as const) {
    const { flow, finished, provider } = flowOf(rounds, new SignIn(box, 's', server));
    const first = answerTo(await flow.address);
    for (let url: string | null = first; url !== null;) {
      const reply: Response = await fetch(url, { redirect: 'manual' });
      url = reply.status === 302 ? answerTo(provider()?.address?.href ?? null) : null;
    }
    expect(
      await flow.done.then(
        () => true,
        () => false,
      ),
    ).toBe(isFine);
    expect(finished).toHaveLength(3);
  }
});

test('drops the discovery with new tokens, so that another sign-in server is noticed', async () => {
  const { box } = keychain();
  const provider = await new SignIn(box, 's', server).interactive(() => Promise.resolve(1234));
  provider.saveDiscoveryState({ authorizationServerUrl: 'https://old.example' });
  await provider.saveTokens(tokens);
  expect(provider.discoveryState()).toBeUndefined();
});

test('uses a preregistered client with its secret, only at the first sign-in server', async () => {
  const { box } = keychain();
  await box.set('agreed', 'the secret');
  const provider = await new SignIn(box, 's', server, { id: 'known', secret: 'keychain:agreed' }).interactive(() => Promise.resolve(4711));
  const client = { client_id: 'known', client_secret: 'the secret' };
  expect(provider.clientInformation({ issuer: 'https://sign.example' })).toEqual(client);
  await provider.saveTokens(tokens);
  const later = await new SignIn(box, 's', server, { id: 'known', secret: 'keychain:agreed' }).provider();
  expect(later?.clientInformation({ issuer: 'https://sign.example' })).toEqual(client);
  expect(later?.clientInformation({ issuer: 'https://other.example' })).toBeUndefined();
});
