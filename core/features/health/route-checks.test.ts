import { expect, test } from 'vitest';
import { configSchema, type ConfigInput } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';
import { routeChecks } from './route-checks.ts';

async function check(given: ConfigInput, missing: readonly string[] = []) {
  const config = configSchema.parse({
    providers: {
      lab: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' },
      cloud: { kind: 'openai', apiKey: 'env:A', keys: ['env:B'] },
    },
    ...given,
  });
  const source = routeChecks({
    settings: { config },
    models: {
      knows: (model) => Object.hasOwn(config.providers, model.slice(0, model.indexOf('/'))),
      isLocal: (model) => model.startsWith('lab/'),
    },
    secrets: {
      resolve: (ref) =>
        missing.includes(ref) ? Promise.reject(new AppError('secret_missing', `${ref} is not set.`)) : Promise.resolve('key'),
    },
  });
  return (await source.check(false)).map(({ id, ok, detail }) => [id, ok, detail]);
}

const routes = (...candidates: string[]) => ({ models: { routes: { everyday: { candidates } } } });

test('a route with usable candidates is well', async () => {
  expect(await check(routes('lab/a', 'cloud/c'))).toEqual([['route.everyday', true, 'route/everyday leads to lab/a, cloud/c.']]);
});

test('names a candidate without a provider', async () => {
  const [found] = await check(routes('lab/a', 'gone/b'));
  expect(found?.[2]).toContain('gone/b has no provider: "gone" is not set up.');
});

test('names a candidate only if none of its keys can be read', async () => {
  expect((await check(routes('cloud/c'), ['env:A']))[0]?.[1]).toBe(true);
  const [found] = await check(routes('lab/a', 'cloud/c'), ['env:A', 'env:B']);
  expect(found?.[2]).toContain('cloud/c cannot be asked: env:A is not set.');
});

test('a route without usable candidates is unwell', async () => {
  const local = { models: { routes: { private: { candidates: ['cloud/c'], localOnly: true } } } };
  expect((await check(local))[0]?.slice(0, 2)).toEqual(['route.private', false]);
});

test('a missing route is unwell', async () => {
  const found = await check({ models: { default: 'route/none' }, agents: { scout: { model: 'route/other' } } });
  expect(found.map(([id, ok]) => [id, ok])).toEqual([
    ['route.none', false],
    ['route.other', false],
  ]);
});
