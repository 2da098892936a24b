import { expect, test } from 'vitest';
import { settleHome } from './settled-home.ts';

test.each([
  ['/home/ann', '/home/ann'],
  ['', undefined],
  ['somewhere', undefined],
  [undefined, undefined],
])('a HOME of %j becomes %j', (given, left) => {
  const env = given === undefined ? {} : { HOME: given };
  settleHome(env, () => '/home/ann');
  expect(env).toEqual(left === undefined ? {} : { HOME: left });
});

test('a user without a passwd entry gets a folder that does not exist', () => {
  const env: NodeJS.ProcessEnv = {};
  settleHome(env, () => {
    throw new Error('uv_os_homedir returned ENOENT');
  });
  expect(env).toEqual({ HOME: '/nonexistent' });
});
