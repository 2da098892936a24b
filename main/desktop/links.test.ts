// Links into the window and out of it.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { viewNames } from '../../core/contracts/views.ts';
import { linkAmong, placeOfLink } from './deep-link.ts';
import { RecordingLogger } from '../../tests/rigs/desktop-bench.ts';
import { openableLink, OutsideLinks } from './external-links.ts';

const ses = 'ses_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const apr = 'apr_01ARZ3NDEKTSV4RRFFQ69G5FAV';

test('links open places in the window', () => {
  const all = ['trayclaw://settings', 'trayclaw://approvals/', `trayclaw://session/${ses}`, `trayclaw://approval/${apr}`];
  expect(all.map(placeOfLink)).toEqual([
    { kind: 'show', view: 'settings' },
    { kind: 'show', view: 'approvals' },
    { kind: 'show-session', sessionId: ses },
    { kind: 'show-approval', approvalId: apr },
  ]);
});

test('a link for an MCP server passes on its query and nothing else', () => {
  const query = 'name=files&command=npx&arg=-y';
  expect(placeOfLink(`trayclaw://mcp/add?${query}`)).toEqual({ kind: 'show-server', query });
  for (const link of [
    'mcp/add',
    'mcp/add?',
    `mcp/add?${query}#x`,
    `mcp/remove?${query}`,
    `mcp/add?name=a b`,
    `mcp/add?${'a'.repeat(5000)}`,
  ])
    expect(placeOfLink(`trayclaw://${link}`)).toBeNull();
});

test.each(viewNames)('the view %s has a deep link', (view) => {
  expect(placeOfLink(`trayclaw://${view}`)).toEqual({ kind: 'show', view });
});

test('every link named in the guide opens a place', () => {
  const guide = readFileSync(new URL('../../docs/guide/window.md', import.meta.url), 'utf8');
  const links = [...guide.matchAll(/`(trayclaw:\/\/[^`]+)`/g)].map(([, link = '']) =>
    link.replace('session/ID', `session/${ses}`).replace('approval/ID', `approval/${apr}`),
  );
  expect(links.length).toBeGreaterThan(2);
  expect(links.filter((link) => placeOfLink(link) === null)).toEqual([]);
});

test.each([
  '',
  'settings',
  'trayclaw:settings',
  'trayclaw://',
  'trayclaw://constructor',
  'trayclaw://session',
  'trayclaw://session/../settings',
  `trayclaw://session/${apr}`,
  `trayclaw://approval/${ses}`,
  `trayclaw://approval/${apr}/approve`,
  `trayclaw://approval/${apr}?decision=approve`,
  `trayclaw://approval/${apr}#approve`,
  'trayclaw://settings?x=1',
  'trayclaw://user@settings',
  'trayclaw://:word@settings',
  'trayclaw://settings:80',
  'trayclaw://settings/x',
  'https://settings',
  'trayclaw://chat?text=rm%20-rf',
  `trayclaw://settings/${'a'.repeat(300)}`,
])('%s opens no place', (link) => {
  expect(placeOfLink(link)).toBeNull();
});

test('finds the link among the command-line arguments', () => {
  expect([linkAmong(['/app', '--background', 'trayclaw://chat']), linkAmong(['/app', '--x=trayclaw://chat'])]).toEqual([
    'trayclaw://chat',
    null,
  ]);
});

test('opens web pages and mail addresses exactly as the system receives them', () => {
  const all = ['https://example.com/a?b=c#d', 'http://example.com', 'mailto:a@example.com?subject=hi', 'https://bücher.example/'];
  expect(all.map(openableLink)).toEqual([
    'https://example.com/a?b=c#d',
    'http://example.com/',
    'mailto:a@example.com?subject=hi',
    'https://xn--bcher-kva.example/',
  ]);
});

const hostile = [
  '',
  ' ',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'data:text/html,<script>1</script>',
  'vbscript:msgbox',
  'blob:https://example.com/1',
  'about:blank',
  'file:///etc/passwd',
  'file://server/share/x.exe',
  'FILE:///C:/Windows/System32/calc.exe',
  '\\\\server\\share\\x.exe',
  'C:\\Windows\\System32\\calc.exe',
  '/bin/sh',
  'smb://server/share',
  'ftp://example.com/x',
  'sftp://example.com/x',
  'ssh://-oProxyCommand=calc',
  'telnet://example.com',
  'ldap://example.com',
  'search-ms:query=x&crumb=location:\\\\server',
  'ms-msdt:/id PCWDiagnostic',
  'ms-officecmd:{"id":3}',
  'ms-word:ofe|u|https://example.com/x.docx',
  'ms-settings:privacy',
  'shell:startup',
  'steam://run/1',
  'zoommtg://join',
  'tel:+1900',
  'sms:+1900',
  'vscode://file/etc/passwd',
  'intent://x#Intent;scheme=http;end',
  'x-apple.systempreferences:',
  'applescript://com.apple.scripteditor?action=new',
  'trayclaw://approval/x',
  'app://trayclaw/',
  'chrome://settings',
  'view-source:https://example.com',
  'jar:https://example.com!/x',
  'ws://example.com',
  'https://user@example.com',
  'https://user:word@example.com',
  'https://google.com@evil.example',
  'https://',
  'https://exa mple.com',
  'https://example.com/\u0000x',
  'https://example.com/\r\nHost: x',
  'https://example.com/\u202Egpj.exe',
  'java\tscript:alert(1)',
  '\u0001javascript:alert(1)',
  'https://example.com/" --renderer-cmd-prefix=calc "',
  'mailto:a@example.com?attach=/etc/passwd',
  'mailto:a@example.com?subject=x&ATTACHMENT=/etc/passwd',
  `https://example.com/${'a'.repeat(2_000)}`,
  'http://[',
  'undefined',
];

test.each(hostile)('%j is not opened', (link) => {
  expect(openableLink(link)).toBeNull();
});

test('the list above contains at least fifty links', () => {
  expect(new Set(hostile).size).toBeGreaterThanOrEqual(50);
});

test('opens one page per click, and logs refused and failed links', async () => {
  const opened: string[] = [];
  const logger = new RecordingLogger();
  let nowMs = 0;
  const openExternal = (url: string): Promise<void> => {
    opened.push(url);
    return url.includes('broken') ? Promise.reject(new Error('no program')) : Promise.resolve();
  };
  const links = new OutsideLinks({ shell: { openExternal }, clock: { monotonicMs: () => nowMs }, logger });
  expect([links.open('file:///etc/passwd'), links.open('https://a.example'), links.open('https://a.example')]).toEqual([false, true, true]);
  // A compromised page that tries many links after one fresh click.
  for (let i = 0; i < 50; i += 1) links.open(`https://a.example/${i}`);
  expect(opened).toEqual(['https://a.example/']);
  nowMs = 500;
  expect(links.open('https://broken.example')).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect([opened, logger.lines]).toEqual([
    ['https://a.example/', 'https://broken.example/'],
    ['warn: a link was not opened', 'warn: the system opened nothing for a link'],
  ]);
});
