// The feed of a macOS release names the files of both processors.

import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { mergeFeeds } from '../../build/merge-feeds.mjs';

const feed = (arch: string, version = '0.2.0'): string =>
  `version: ${version}\nfiles:\n  - url: TrayClaw-${version}-mac-${arch}.zip\n    sha512: ${arch}\n    size: 1\npath: TrayClaw-${version}-mac-${arch}.zip\nsha512: ${arch}\n`;

test('one feed contains both processors, led by the first', () => {
  expect(parse(mergeFeeds(feed('arm64'), feed('x64')))).toEqual({
    version: '0.2.0',
    files: ['arm64', 'x64'].map((arch) => ({ url: `TrayClaw-0.2.0-mac-${arch}.zip`, sha512: arch, size: 1 })),
    path: 'TrayClaw-0.2.0-mac-arm64.zip',
    sha512: 'arm64',
  });
});

test('rejects feeds of different versions', () => {
  expect(() => mergeFeeds(feed('arm64'), feed('x64', '0.3.0'))).toThrow('the feeds are of two versions: 0.2.0 and 0.3.0');
});
