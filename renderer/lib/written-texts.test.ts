// The text of a file from the calls that wrote it.

import { expect, test } from 'vitest';
import type { CallView } from '../../core/contracts/turn-view.ts';
import { readTexts, writtenTexts } from './written-texts.ts';

const before = { kind: 'absent' } as const;

function call(tool: string, args: object, more: Partial<CallView> = {}): CallView {
  const files = [{ path: '/w/a.md', before, after: null }];
  return { tool, args: JSON.stringify(args), state: 'ok', undoneBy: null, files, ...more } as unknown as CallView;
}

const write = call('write_file', { path: 'a.md', content: 'one one' });
const edit = (old: string, put: string, replaceAll?: boolean): CallView => call('edit_file', { path: 'a.md', old, new: put, replaceAll });

test.each<[string, readonly CallView[], string | undefined]>([
  ['written', [write], 'one one'],
  ['edited once', [write, edit('one', '$& two')], '$& two one'],
  ['edited everywhere', [write, edit('one', 'two', true)], 'two two'],
  ['edited from a text that is not known', [edit('one', 'two')], undefined],
  ['not as the edit says', [write, edit('three', 'two')], undefined],
  ['written by a command after it', [write, call('exec', { command: 'sort -o a.md a.md' })], undefined],
  ['undone', [write, { ...edit('one', 'two'), undoneBy: 'cal_2' }], 'one one'],
  ['failed', [{ ...write, state: 'error' }], undefined],
])('a file that was %s', (_how, calls, text) => {
  expect(writtenTexts(calls).get('/w/a.md')).toBe(text);
});

test('the text of a file that was only read is the one of the last read that worked', () => {
  const decision = { facts: { paths: [{ given: 'a.md', real: '/w/a.md', access: 'read' }] } } as unknown as CallView['decision'];
  const reads = ['one', 'two'].map((forModel) => call('read_file', { path: 'a.md' }, { files: [], forModel, decision }));
  const failed = call('read_file', { path: 'a.md' }, { files: [], forModel: 'gone', decision, state: 'error' });
  const listed = call('exec', { command: 'ls a.md' }, { files: [], forModel: 'a.md', decision });
  expect([...readTexts([...reads, failed, listed])]).toEqual([['a.md', 'two']]);
});
