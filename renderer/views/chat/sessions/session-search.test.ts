import { expect, test } from 'vitest';
import { SessionSearch } from './session-search.svelte.ts';

test('a search that failed is not one that found nothing', async () => {
  let isBroken = true;
  const op = () => (isBroken ? Promise.reject(new Error('damaged')) : Promise.resolve({ hits: [], hasMore: false }));
  const search = new SessionSearch({ op } as unknown as ConstructorParameters<typeof SessionSearch>[0]);
  search.query = 'beans';
  search.follow();
  await expect.poll(() => search.isBusy).toBe(false);
  expect(search.hasFailed).toBe(true);
  isBroken = false;
  search.follow();
  expect(search.hasFailed).toBe(false);
  await expect.poll(() => search.isBusy).toBe(false);
  expect(search.hasFailed).toBe(false);
});
