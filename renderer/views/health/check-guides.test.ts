import { expect, test } from 'vitest';
import { english } from '../../lib/i18n/english/whole.ts';
import { guideOf, splitCommand } from './check-guides.ts';

test('a check has a name, an explanation and a next step; an unknown one keeps its id', () => {
  expect(guideOf('model', english.health)).toMatchObject({ title: 'Model', link: { href: '#/settings/models', name: 'Choose a model' } });
  expect(guideOf('config.2', english.health)).toMatchObject({ title: 'Configuration', link: { href: '#/settings/file' } });
  expect(guideOf('panic', english.health)).toMatchObject({ link: null, canReleasePanic: true });
  expect(guideOf('tray', english.health)).toEqual({ title: 'Tray', meaning: '', link: null, canReleasePanic: false });
  expect(guideOf('constructor', english.health).title).toBe('Constructor');
  for (const [id, title] of [
    ['provider.lab', 'Model server: lab'],
    ['mcp.files.tools.1', 'MCP server: files tools'],
    ['config.tools.2', 'Configuration: tools'],
    ['dead-letters', 'Failed turns'],
    ['new-check.x', 'New check: x'],
  ] as const)
    expect(guideOf(id, english.health).title).toBe(title);
  expect(guideOf('provider.lab', english.health)).toMatchObject({ link: { href: '#/settings/models' } });
  expect(guideOf('provider.lab', english.health).meaning).toContain('reached');
});

test('a command inside an instruction is shown separately', () => {
  expect(splitCommand('trayclaw panic --release')).toEqual({ text: '', command: 'trayclaw panic --release' });
  expect(splitCommand('Restore a backup: trayclaw backup restore FILE')).toEqual({
    text: 'Restore a backup:',
    command: 'trayclaw backup restore FILE',
  });
  expect(splitCommand('Run trayclaw audit verify, then restore a backup.')).toEqual({
    text: 'Run then restore a backup.',
    command: 'trayclaw audit verify',
  });
  expect(splitCommand('Free some disk space.')).toEqual({ text: 'Free some disk space.', command: null });
});
