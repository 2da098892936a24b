import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { officeFile } from '../../../tests/rigs/office.ts';
import { pdfOf } from '../../../tests/rigs/pdf.ts';
import { createToolBench } from '../../../tests/rigs/tool-bench.ts';

const bench = createToolBench({ outputBytesMax: 8000 });
const at = (...parts: string[]): string => join(bench.workspace, ...parts);

beforeEach(() => {
  rmSync(bench.workspace, { recursive: true });
  mkdirSync(bench.workspace);
});
afterAll(() => bench.dispose());

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), content);
}

const brief = ({ outcome, forModel }: { outcome: string; forModel: string }) => ({ outcome, forModel });

async function verify(tool: string, args: Readonly<Record<string, unknown>>, between: () => void = () => undefined) {
  const parsed = bench.host.parse(tool, JSON.stringify(args));
  if (!parsed.ok) throw parsed.error;
  const context = bench.context();
  expect((await bench.host.run(parsed.value, context)).outcome).toBe('ok');
  between();
  return parsed.value.tool.verify?.(parsed.value.args, context);
}

test('read_file returns a file as it is, by lines, and with numbers on request', async () => {
  put('a.txt', 'one\ntwo\r\nthree\nfour');
  expect(await bench.call('read_file', { path: 'a.txt' })).toMatchObject({ outcome: 'ok', forModel: 'one\ntwo\r\nthree\nfour' });
  expect((await bench.call('read_file', { path: 'a.txt', offset: 2, limit: 2 })).forModel).toBe(
    'two\r\nthree\n[lines 2–3 of 4; continue with offset 4]',
  );
  expect((await bench.call('read_file', { path: 'a.txt', offset: 4, lineNumbers: true })).forModel).toBe('4\tfour');
  expect(brief(await bench.call('read_file', { path: 'a.txt', offset: 5 }))).toEqual({
    outcome: 'error',
    forModel: 'a.txt has only 4 lines; offset 5 is beyond its end.',
  });
  put('empty', '');
  expect((await bench.call('read_file', { path: 'empty' })).forModel).toBe('(the file is empty)');
});

test('read_file pages through a long file without losing a line', async () => {
  const whole = Array.from({ length: 2000 }, (_, i) => `line ${i} ü\n`).join('');
  put('long.txt', whole);
  let seen = '';
  let offset: number | undefined = 1;
  for (let part = 0; offset !== undefined && part < 20; part++) {
    const { forModel, artifacts }: { forModel: string; artifacts: readonly unknown[] } = await bench.call('read_file', {
      path: 'long.txt',
      offset,
    });
    expect(artifacts).toEqual([]);
    const note: RegExpExecArray | null = /\[lines .* continue with offset (\d+)\]$/.exec(forModel);
    seen += note === null ? forModel : forModel.slice(0, note.index);
    offset = note === null ? undefined : Number(note[1]);
  }
  expect(seen).toBe(whole);
});

test('read_file describes content that it cannot show', async () => {
  put('image.bin', Buffer.from([137, 80, 0, 1]));
  expect((await bench.call('read_file', { path: 'image.bin' })).forModel).toBe(
    'image.bin is a binary file (4 bytes, it starts with the bytes 89500001).',
  );
  put('wide.txt', 'x'.repeat(20_000));
  const wide = await bench.call('read_file', { path: 'wide.txt' });
  expect(wide.forModel).toMatch(/^x{7000,}\n\[line 1 of wide.txt has 20 kB and is cut here/);
  put('huge.txt', '');
  execFileSync('truncate', ['-s', '11M', at('huge.txt')]);
  expect((await bench.call('read_file', { path: 'huge.txt' })).forModel).toMatch(/over the limit of 10 MB.*Use grep/);
  expect((await bench.call('read_file', { path: 'missing' })).forModel).toMatch(
    /^Could not read .*missing: there is nothing at this path\.$/,
  );
  expect((await bench.call('read_file', { path: '.' })).forModel).toMatch(/this is a folder, not a file/);
  execFileSync('mkfifo', [at('pipe')]);
  expect((await bench.call('read_file', { path: 'pipe' })).forModel).toMatch(/not a plain file/);
});

test('read_file returns the text of a PDF by pages and lines', async () => {
  put('report.pdf', pdfOf(['The first page.', 'The second page.']));
  expect((await bench.call('read_file', { path: 'report.pdf' })).forModel).toBe(
    '[page 1 of 2]\nThe first page.\n[page 2 of 2]\nThe second page.\n',
  );
  expect((await bench.call('read_file', { path: 'report.pdf', offset: 4, lineNumbers: true })).forModel).toBe('4\tThe second page.\n');
  put('no-ending', pdfOf(['Named otherwise.']));
  expect((await bench.call('read_file', { path: 'no-ending' })).forModel).toContain('Named otherwise.');
  put('broken.pdf', '%PDF-1.7 and nothing else');
  expect(brief(await bench.call('read_file', { path: 'broken.pdf' }))).toEqual({
    outcome: 'ok',
    forModel: 'broken.pdf is a PDF (25 bytes). It is no PDF that can be read, or it is locked.',
  });
});

test('read_file returns the text of office documents, whatever their name, and says what cannot be read', async () => {
  put('budget', officeFile('budget.xlsx'));
  expect((await bench.call('read_file', { path: 'budget', offset: 5, limit: 1 })).forModel).toMatch(
    /^2\tRent\t1200.5\t2026-01-31\tTRUE\t0.25\n\[/,
  );
  put('cut.docx', officeFile('report.docx').subarray(0, 5_000));
  expect((await bench.call('read_file', { path: 'cut.docx' })).forModel).toMatch(
    /^cut.docx is a Word document \(5 kB\). It is damaged and cannot be read.$/,
  );
  put('old.doc', Buffer.from('d0cf11e0a1b11ae100', 'hex'));
  expect((await bench.call('read_file', { path: 'old.doc' })).forModel).toBe(
    'old.doc is a file of an old or locked Office format (9 bytes). Its text cannot be read: save it as .docx, .xlsx or .pptx, without a password.',
  );
  const slides = bench.artifacts.put(officeFile('talk.pptx'), { name: 'talk.pptx', mediaType: 'application/octet-stream' }).sha256;
  expect((await bench.call('artifact_read', { artifact: slides })).forModel).toMatch(/^\[slide 1 of 2\]\nOur plan\n/);
});

test('read_file of a PDF ends with its turn', async () => {
  put('report.pdf', pdfOf(['A page.']));
  const parsed = bench.host.parse('read_file', '{"path":"report.pdf"}');
  if (!parsed.ok) throw parsed.error;
  const stopped = AbortSignal.abort();
  expect((await bench.host.run(parsed.value, bench.context({ signal: stopped }))).outcome).toBe('cancelled');
});

test('read_file shows a picture to models, unless it is too large', async () => {
  const picture = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47]), Buffer.alloc(8)]);
  put('shot.png', picture);
  const { forModel, artifacts } = await bench.call('read_file', { path: 'shot.png' });
  expect(forModel).toBe('shot.png is a picture (12 bytes, image/png). It is shown with this result.');
  expect(artifacts).toMatchObject([{ name: 'shot.png', mediaType: 'image/png', sizeBytes: 12 }]);
  put('large.jpg', Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(5_000_000)]));
  const large = await bench.call('read_file', { path: 'large.jpg' });
  expect(large).toMatchObject({
    forModel: 'large.jpg is a picture (5 MB), too large to be shown: make a copy of at most 5 MB.',
    artifacts: [],
  });
});

test('write_file creates folders, keeps the mode, leaves no extra file and verifies', async () => {
  const args = { path: 'new/deep/a.txt', content: 'grüße\n' };
  expect(await verify('write_file', args)).toEqual({ ok: true, detail: 'new/deep/a.txt holds what was written' });
  expect(readFileSync(at('new/deep/a.txt'), 'utf8')).toBe('grüße\n');
  chmodSync(at('new/deep/a.txt'), 0o750);
  expect(brief(await bench.call('write_file', { path: 'new/deep/a.txt', content: 'second' }))).toEqual({
    outcome: 'ok',
    forModel: 'Wrote new/deep/a.txt (6 bytes).',
  });
  expect(statSync(at('new/deep/a.txt')).mode & 0o777).toBe(0o750);
  expect(readdirSync(at('new/deep'))).toEqual(['a.txt']);
  const changed = await verify('write_file', args, () => appendFileSync(at('new/deep/a.txt'), '!'));
  expect(changed).toEqual({ ok: false, detail: 'new/deep/a.txt does not hold what was written' });
});

test('write_file leaves the file and the folder unchanged if it fails', async () => {
  put('folder/keep.txt', 'k');
  expect((await bench.call('write_file', { path: 'folder', content: 'x' })).forModel).toMatch(/this is a folder, not a file/);
  expect((await bench.call('write_file', { path: 'folder/keep.txt/x', content: 'x' })).forModel).toMatch(
    /is a file, not a folder|already there/,
  );
  for (const tool of ['write_file', 'append_file'])
    await expect(bench.call(tool, { path: 'new/', content: '' })).rejects.toThrow(/path names a folder/);
  expect(readdirSync(at('.'))).toEqual(['folder']);
  expect(readdirSync(at('folder'))).toEqual(['keep.txt']);
});

test('a repeated call replaces the leftover of a killed run, and follows no link there', async () => {
  put('a.txt', 'old');
  const callId = 'call_again';
  const left = at('.a.txt.call_again.tmp');
  put('.a.txt.call_again.tmp', 'ha');
  expect((await bench.call('write_file', { path: 'a.txt', content: 'half and half' }, { callId })).outcome).toBe('ok');
  expect([readFileSync(at('a.txt'), 'utf8'), readdirSync(bench.workspace)]).toEqual(['half and half', ['a.txt']]);
  put('other.txt', 'of another user');
  symlinkSync(at('other.txt'), left);
  expect((await bench.call('edit_file', { path: 'a.txt', old: 'half and', new: 'whole and' }, { callId })).outcome).toBe('ok');
  expect([readFileSync(at('a.txt'), 'utf8'), readFileSync(at('other.txt'), 'utf8')]).toEqual(['whole and half', 'of another user']);
  mkdirSync(left);
  expect(await bench.call('write_file', { path: 'a.txt', content: 'new' }, { callId })).toMatchObject({ outcome: 'error' });
  expect([readFileSync(at('a.txt'), 'utf8'), existsSync(left)]).toEqual(['whole and half', true]);
});

test('writing through a link changes its target and keeps the link', async () => {
  put('real.txt', 'old');
  symlinkSync('real.txt', at('link.txt'));
  await bench.call('write_file', { path: 'link.txt', content: 'new' });
  expect(readFileSync(at('real.txt'), 'utf8')).toBe('new');
  expect(
    readdirSync(at('.'), { withFileTypes: true })
      .find((entry) => entry.name === 'link.txt')
      ?.isSymbolicLink(),
  ).toBe(true);
});

test.each(['write_file', 'append_file', 'edit_file', 'read_file'])(
  '%s refuses a path that leads elsewhere than its facts said',
  async (tool) => {
    put('safe/a.txt', 'inside');
    mkdirSync(join(bench.root, 'elsewhere'), { recursive: true });
    writeFileSync(join(bench.root, 'elsewhere/a.txt'), 'inside');
    const args = {
      write_file: { content: 'bad' },
      append_file: { content: 'bad' },
      edit_file: { old: 'inside', new: 'bad' },
      read_file: {},
    }[tool];
    const parsed = bench.host.parse(tool, JSON.stringify({ path: 'safe/a.txt', ...args }));
    if (!parsed.ok) throw parsed.error;
    const context = bench.context();
    const facts = parsed.value.tool.facts(parsed.value.args, context);
    expect(facts.paths).toEqual([
      {
        given: 'safe/a.txt',
        real: at('safe/a.txt'),
        access: tool === 'read_file' ? 'read' : 'write',
        insideWorkspace: true,
        protectedBy: null,
      },
    ]);
    rmSync(at('safe'), { recursive: true });
    symlinkSync(join(bench.root, 'elsewhere'), at('safe'));
    const result = await bench.host.run(parsed.value, context);
    expect(result.outcome).toBe('error');
    expect(result.forModel).toMatch(/leads to .*elsewhere\/a.txt now; it led to .*safe\/a.txt when the call was checked/);
    expect(readFileSync(join(bench.root, 'elsewhere/a.txt'), 'utf8')).toBe('inside');
  },
);

test('append_file adds exactly the given text', async () => {
  expect(await verify('append_file', { path: 'log/a.txt', content: 'one\n' })).toEqual({
    ok: true,
    detail: 'log/a.txt ends with what was added',
  });
  expect(brief(await bench.call('append_file', { path: 'log/a.txt', content: 'zwölf' }))).toEqual({
    outcome: 'ok',
    forModel: 'Added 6 bytes to log/a.txt; it now has 10 bytes.',
  });
  expect(readFileSync(at('log/a.txt'), 'utf8')).toBe('one\nzwölf');
  const changed = await verify('append_file', { path: 'log/a.txt', content: 'x' }, () => writeFileSync(at('log/a.txt'), 'y'));
  expect(changed?.ok).toBe(false);
});

test('edit_file changes one place, keeps line ends and verifies itself', async () => {
  put('a.ts', 'let a = 1;\r\nlet b = 2;\r\n');
  const ok = await verify('edit_file', { path: 'a.ts', old: 'a = 1;\nlet b', new: 'a = $&;\nlet c' });
  expect(ok).toEqual({ ok: true, detail: 'a.ts holds the edit' });
  expect(readFileSync(at('a.ts'), 'utf8')).toBe('let a = $&;\r\nlet c = 2;\r\n');
  const undone = await verify('edit_file', { path: 'a.ts', old: 'let c', new: 'let d' }, () => writeFileSync(at('a.ts'), 'let d'));
  expect(undone?.ok).toBe(false);
});

test('a missing file suggests similar names of the workspace, but no protected ones', async () => {
  put('near/report-2026.md', 'x');
  put('near/.env.local', 'x');
  const missing = async (tool: string, args: object): Promise<string> => (await bench.call(tool, { ...args })).forModel;
  expect(await missing('read_file', { path: 'near/Report_2026.md' })).toMatch(
    /nothing at this path\. Did you mean near\/report-2026\.md\?$/,
  );
  expect(await missing('edit_file', { path: 'near/report-2025.md', old: 'x', new: 'y' })).toContain('Did you mean near/report-2026.md?');
  expect(await missing('read_file', { path: 'near/.env.locale' })).not.toContain('Did you mean');
  writeFileSync(join(bench.root, 'outside.md'), 'x');
  expect(await missing('read_file', { path: join(bench.root, 'outsid.md') })).not.toContain('Did you mean');
});

test('edit_file refuses inexact edits, and then changes nothing', async () => {
  put('damaged.txt', Buffer.concat([Buffer.from('grün'), Buffer.of(0xfc, 0x0a)]));
  expect((await bench.call('edit_file', { path: 'damaged.txt', old: 'g', new: 'h' })).forModel).toMatch(/it is damaged UTF-8 text/);
  put('binary', Buffer.of(0x67, 0, 0x0a));
  expect((await bench.call('edit_file', { path: 'binary', old: 'g', new: 'h' })).forModel).toMatch(/it is not text/);
  put('a.txt', '\uFEFFone two\n');
  expect(brief(await bench.call('edit_file', { path: 'a.txt', old: 'one  two', new: 'x' }))).toEqual({
    outcome: 'error',
    forModel: 'a.txt was not changed: "old" is not in the file. The nearest is line 1: "\uFEFFone two" (it differs in white space only).',
  });
  await bench.call('edit_file', { path: 'a.txt', old: 'one', new: 'two' });
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('\uFEFFtwo two\n');
});

test.each([
  ['Windows-1252', (text: string) => Buffer.from(text, 'latin1')],
  ['UTF-16LE', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
] as const)('a file in %s is read, searched, edited and appended to in its encoding', async (encoding, bytesOf) => {
  put('export.csv', bytesOf('Käufer;Betrag\r\nMüller;12,50\r\n'));
  expect((await bench.call('read_file', { path: 'export.csv', offset: 2 })).forModel).toBe(
    `[This file is in ${encoding}; edit_file and append_file keep that encoding.]\nMüller;12,50\r\n`,
  );
  expect((await bench.call('grep', { pattern: '^Mü', path: 'export.csv' })).forModel).toBe('export.csv:2:Müller;12,50');
  expect(await verify('edit_file', { path: 'export.csv', old: 'Müller;12', new: 'Möller;13' })).toMatchObject({ ok: true });
  expect(await verify('append_file', { path: 'export.csv', content: 'Groß;1\r\n' })).toMatchObject({ ok: true });
  expect(await verify('append_file', { path: 'export.csv', content: 'end' })).toMatchObject({ ok: true });
  expect(readFileSync(at('export.csv'))).toEqual(bytesOf('Käufer;Betrag\r\nMöller;13,50\r\nGroß;1\r\nend'));
});

test('letters that the encoding of a file lacks are refused, and nothing changes', async () => {
  const bytes = Buffer.from('Käufer', 'latin1');
  put('export.csv', bytes);
  const lacks = { outcome: 'error', forModel: expect.stringMatching(/is in Windows-1252, which lacks a letter of the new text/) };
  expect(await bench.call('edit_file', { path: 'export.csv', old: 'K', new: 'Łódź' })).toMatchObject(lacks);
  expect(await bench.call('append_file', { path: 'export.csv', content: 'Łódź' })).toMatchObject(lacks);
  expect(readFileSync(at('export.csv'))).toEqual(bytes);
});

test('artifact_read reads text in other encodings, part by part', async () => {
  const part = async (bytes: Buffer, args: object): Promise<string> => {
    const { sha256 } = bench.artifacts.put(bytes, { name: 'export.csv', mediaType: 'text/csv' });
    return (await bench.call('artifact_read', { artifact: sha256, ...args })).forModel;
  };
  expect(await part(Buffer.from('Käufer Müller', 'latin1'), { length: 6 })).toBe('Käufer\n[bytes 0 to 5; continue with offset 6]');
  expect(await part(Buffer.from('Käufer Müller', 'latin1'), { offset: 7 })).toBe('Müller');
  expect(await part(Buffer.from('\uFEFFKäufer Müller', 'utf16le'), { offset: 8 })).toBe('Müller');
});

test('list_dir shows kinds and sizes, sorted and bounded', async () => {
  put('b.txt', 'x'.repeat(1500));
  put('a/inner', '');
  symlinkSync('b.txt', at('c'));
  put('odd\nname', '');
  expect((await bench.call('list_dir', {})).forModel).toBe('a/\nb.txt  1.5 kB\nc -> b.txt\n"odd\\nname"  0 bytes');
  mkdirSync(at('many'));
  for (let i = 0; i < 1003; i++) writeFileSync(at('many', `f${i}`), '');
  expect((await bench.call('list_dir', { path: 'many' }, {})).artifacts.length).toBe(1);
  expect((await bench.call('list_dir', { path: 'many' })).forModel).toMatch(/… and 3 further entries$/);
  mkdirSync(at('none'));
  expect((await bench.call('list_dir', { path: 'none' })).forModel).toBe('(the folder is empty)');
  expect((await bench.call('list_dir', { path: 'b.txt' })).outcome).toBe('error');
});

test('facts and summaries describe a call', () => {
  const describe = (tool: string, args: Readonly<Record<string, unknown>>) => {
    const parsed = bench.host.parse(tool, JSON.stringify(args));
    if (!parsed.ok) throw parsed.error;
    const { tool: definition, args: checked } = parsed.value;
    return `${definition.facts(checked, bench.context()).class} ${definition.idempotency(checked)}: ${definition.summarize(checked)}`;
  };
  expect(describe('write_file', { path: 'notes.md', content: 'x'.repeat(1234) })).toBe('write idempotent: write notes.md (1.2 kB)');
  expect(describe('edit_file', { path: 'a', old: 'b', new: 'c' })).toBe('write unsafe: edit a');
  expect(describe('append_file', { path: 'a', content: 'bc' })).toBe('write unsafe: append 2 bytes to a');
  expect(describe('read_file', { path: 'a' })).toBe('read pure: read a');
  expect(describe('list_dir', {})).toBe('read pure: list .');
  expect(describe('glob', { pattern: '*' })).toBe('read pure: find files like * in .');
  expect(describe('grep', { pattern: 'x' })).toBe('read pure: search . for x');
  expect(describe('calc', { expression: '1' })).toBe('read pure: work out 1');
  expect(describe('session_search', { query: 'x' })).toBe('read pure: search earlier conversations for x');
  expect(describe('artifact_read', { artifact: 'x' })).toBe('read pure: read artifact x');
  expect(describe('exec', { command: 'ls' })).toBe('exec unsafe: run ls');
  expect(describe('exec', { action: 'poll', sessionId: 'cmd-1' })).toBe('read pure: read the output of cmd-1');
  expect(describe('exec', { action: 'kill', sessionId: 'cmd-1' })).toBe('read unsafe: end cmd-1');
});

test('session_search passes query and limit on and shows the hits', async () => {
  const asked: unknown[] = [];
  const searchSessions = (query: string, limit: number) => {
    asked.push([query, limit]);
    return [{ sessionId: 'ses_9', seq: 4, atMs: Date.UTC(2026, 0, 2, 3, 4), type: 'user.message', excerpt: 'the  blue\nkey' }];
  };
  const result = await bench.call('session_search', { query: 'blue key', limit: 3 }, { searchSessions });
  expect(result.forModel).toBe('[ses_9 #4, 2026-01-02 03:04 UTC, user.message] the blue key');
  expect(asked).toEqual([['blue key', 3]]);
  expect((await bench.call('session_search', { query: 'none' })).forModel).toBe('Nothing was found.');
});

test('artifact_read pages through an artifact without splitting a character', async () => {
  const whole = 'äöü€😀\n'.repeat(2000);
  const { sha256 } = bench.artifacts.put(whole, { name: 'n', mediaType: 't' });
  let seen = '';
  let offset: number | undefined = 0;
  for (let part = 0; offset !== undefined && part < 50; part++) {
    const { forModel }: { forModel: string } = await bench.call('artifact_read', { artifact: sha256, offset, length: 1001 });
    const note: RegExpExecArray | null = /\n?\[bytes .* continue with offset (\d+)\]$/.exec(forModel);
    seen += note === null ? forModel : forModel.slice(0, note.index);
    offset = note === null ? undefined : Number(note[1]);
  }
  expect(seen.replaceAll('\n', '')).toBe(whole.replaceAll('\n', ''));
  const { sha256: binary } = bench.artifacts.put(new Uint8Array([1, 0, 2]), { name: 'b', mediaType: 't' });
  expect((await bench.call('artifact_read', { artifact: binary })).forModel).toBe('This artifact is binary; at byte 0 it has 010002.');
  const pdf = bench.artifacts.put(pdfOf(['One.', 'Two.']), { name: 'a.pdf', mediaType: 'application/pdf' }).sha256;
  expect((await bench.call('artifact_read', { artifact: pdf })).forModel).toBe('[page 1 of 2]\nOne.\n[page 2 of 2]\nTwo.\n');
  expect((await bench.call('artifact_read', { artifact: pdf, offset: 19, length: 13 })).forModel).toBe(
    '[page 2 of 2]\n[bytes 19 to 31; continue with offset 32]',
  );
  expect(await bench.call('artifact_read', { artifact: 'unknown' })).toMatchObject({
    outcome: 'error',
    forModel: 'There is no artifact unknown.',
  });
  expect((await bench.call('artifact_read', { artifact: sha256, offset: 10 ** 9 })).forModel).toBe(
    '(there is nothing at or after byte 1000000000)',
  );
  expect(existsSync(at('n'))).toBe(false);
});
