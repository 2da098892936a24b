import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { FactContext, PathFact } from '../../contracts/tools.ts';
import { realPathFileSystem } from './file-system-port.ts';
import { isInside } from '../../base/inside-folder.ts';
import { PathFacts } from './path-facts.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-paths-')));
const person = join(root, 'person');
const home = join(person, 'data');
const workspace = join(home, 'workspace');
const outside = join(root, 'outside');
const extra = join(root, 'extra');
for (const folder of [join(workspace, 'sub/deep'), outside, extra, join(person, '.ssh')]) mkdirSync(folder, { recursive: true });
writeFileSync(join(workspace, 'plain.txt'), 'x');
writeFileSync(join(outside, 'secret.txt'), 'x');
writeFileSync(join(outside, 'shared.txt'), 'x');
linkSync(join(outside, 'shared.txt'), join(workspace, 'hard.txt'));
symlinkSync(outside, join(workspace, 'out'));
symlinkSync(join(outside, 'secret.txt'), join(workspace, 'out-file'));
symlinkSync(join(outside, 'not-yet.txt'), join(workspace, 'dangling'));
symlinkSync('sub/deep', join(workspace, 'in'));
symlinkSync('circle-b', join(workspace, 'circle-a'));
symlinkSync('circle-a', join(workspace, 'circle-b'));
symlinkSync('../..', join(workspace, 'sub/up'));
symlinkSync(person, join(workspace, 'person'));
afterAll(() => rmSync(root, { recursive: true }));

const facts = new PathFacts({ files: realPathFileSystem, userHome: person });
const context: FactContext = { workspace, home, extraFolders: [extra] };

function of(given: string, access: PathFact['access'] = 'write', within = context): Omit<PathFact, 'given' | 'access'> {
  const { real, insideWorkspace, protectedBy } = facts.of(given, access, within);
  return { real, insideWorkspace, protectedBy };
}

const inside = (path: string) => ({ real: join(workspace, path), insideWorkspace: true, protectedBy: null });
const outsideAt = (real: string) => ({ real, insideWorkspace: false, protectedBy: null });
const own = "this is TrayClaw's own data";

test.each([
  ['a plain file', 'plain.txt', inside('plain.txt')],
  ['the workspace', '.', inside('')],
  ['a trailing slash', 'sub/', inside('sub')],
  ['doubled slashes and dots', './/sub/./deep//', inside('sub/deep')],
  ['a file that does not exist yet', 'new/er/file.txt', inside('new/er/file.txt')],
  ['up and down inside', 'sub/../plain.txt', inside('plain.txt')],
  ['up through a missing part', 'missing/../plain.txt', inside('plain.txt')],
  ['a link inside', 'in/x.txt', inside('sub/deep/x.txt')],
  ['up from a link goes to the parent of its target', 'in/../x.txt', inside('sub/x.txt')],
  ['an absolute path', join(workspace, 'plain.txt'), inside('plain.txt')],
  ['a file named with a single tilde', './~', inside('~')],
  ['another extra folder', join(extra, 'a'), { real: join(extra, 'a'), insideWorkspace: true, protectedBy: null }],
  ['a link to a folder outside', 'out/secret.txt', outsideAt(join(outside, 'secret.txt'))],
  ['a new file behind a link to outside', 'out/new/x', outsideAt(join(outside, 'new/x'))],
  ['a link to a file outside', 'out-file', outsideAt(join(outside, 'secret.txt'))],
  ['a dangling link to outside', 'dangling', outsideAt(join(outside, 'not-yet.txt'))],
  ['up and out', 'a/../../../../outside/x', outsideAt(join(outside, 'x'))],
  ['a folder with a similar name', '../workspace-2/x', { real: join(home, 'workspace-2/x'), insideWorkspace: false, protectedBy: own }],
  ['the data folder', '../trayclaw.db', { real: join(home, 'trayclaw.db'), insideWorkspace: false, protectedBy: own }],
  ['the data folder through a link', 'sub/up/trayclaw.db', { real: join(home, 'trayclaw.db'), insideWorkspace: false, protectedBy: own }],
  [
    'keys by the tilde',
    '~/.ssh/id',
    { real: join(person, '.ssh/id'), insideWorkspace: false, protectedBy: 'keys and sign-in data are kept here' },
  ],
  [
    'keys through a link',
    'person/.ssh/id',
    { real: join(person, '.ssh/id'), insideWorkspace: false, protectedBy: 'keys and sign-in data are kept here' },
  ],
])('path to resolve: %s', (_, given, expected) => {
  expect(of(given)).toEqual(expected);
});

test.each([
  ['NUL byte', 'a\0b', 'the path holds a NUL byte'],
  ['half a character', 'a\ud800b', 'the path holds half of a character, which no file name can'],
  ['a very long name', 'x'.repeat(300), 'the path is longer than the file system allows'],
  ['a very long path', 'x/'.repeat(3000), 'the path is longer than the file system allows'],
  ['links in a circle', 'circle-a/x', 'symbolic links lead in circles'],
  ['nothing', '', 'the path is empty'],
])('%s is outside and protected', (_, given, protectedBy) => {
  expect(of(given)).toEqual({ real: given, insideWorkspace: false, protectedBy });
});

test('a name is found in the other Unicode form, except by a command', () => {
  const [one, two] = ['d\u00e9j\u00e0', 'de\u0301ja\u0300'];
  mkdirSync(join(workspace, two));
  writeFileSync(join(workspace, two, 'vu\u0308'), 'x');
  expect([of(`${one}/v\u00fc`), of(`${one}/v\u00e9`), of(`${two}/vu\u0308`)]).toEqual([
    inside(`${two}/vu\u0308`),
    inside(`${two}/v\u00e9`),
    inside(`${two}/vu\u0308`),
  ]);
  const byCommand = (path: string): string => facts.inFolder(path, workspace, 'write', facts.folders(context)).real;
  expect([byCommand(one), byCommand(two)]).toEqual([join(workspace, one), join(workspace, two)]);
  // A folder with both keeps them apart.
  mkdirSync(join(workspace, one));
  expect([of(one), of(two)]).toEqual([inside(one), inside(two)]);
});

test('an unreadable part is outside and protected', () => {
  const blind = new PathFacts({
    userHome: person,
    files: {
      lookUp: (path) => (path.endsWith('dark') ? 'unreadable' : realPathFileSystem.lookUp(path)),
      readLink: (path) => realPathFileSystem.readLink(path),
      sameName: (folder, name) => realPathFileSystem.sameName(folder, name),
      readText: (path) => realPathFileSystem.readText(path),
    },
  });
  expect(blind.of('dark/x', 'read', context)).toMatchObject({
    insideWorkspace: false,
    protectedBy: 'a part of the path cannot be looked at',
  });
});

test.each([
  '.env',
  '.env.local',
  'app/.ENV',
  '.Ssh/config',
  '.bashrc',
  '.zshrc',
  '.profile',
  '.git/hooks/pre-commit',
  '.git/config',
  '.GIT/Hooks',
  '.env.',
  '.ssh./id',
  '.gnupg ',
  '.en\u200bv',
  '.env:stream',
  'crontab',
  '.aws/credentials',
  '.kube/config',
  'Library/Keychains/x',
  'id_ed25519.bak',
  ...'a/app.jks debug.keystore client_secret_1.json .vault_pass copy/key4.db copy/logins.json'.split(' '),
  'copy/Login Data',
  ...'id_dsa server.ppk a/keys.p12 Client.PFX vault.kdbx wallet.dat credentials.json service-account-prod.json x.tfstate .htpasswd'.split(
    ' ',
  ),
  ...'.my.cnf .s3cfg .boto .terraformrc .databrickscfg .authinfo.gpg .msmtprc .rclone.conf .oci/config .fly/config.yml'.split(' '),
  ...'.gem/credentials .m2/settings.xml .gradle/gradle.properties .composer/auth.json .cache/huggingface/token .kaggle/x'.split(' '),
  ...'.claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json .config/hub .config/github-copilot/hosts.json'.split(' '),
  ...'.bash_history .zsh_history .python_history .psql_history .ethereum/keystore/x .bitcoin/x .thunderbird/x'.split(' '),
  ...'.config/vivaldi/x .config/microsoft-edge/x .var/app/com.google.Chrome/x Library/Safari/x'.split(' '),
  'AppData/Local/BraveSoftware/Brave-Browser/User Data/x',
  'Library/Application Support/Microsoft Edge/x', // prettier-ignore
])('%s is protected inside the workspace too', (given) => {
  const fact = of(given, 'read');
  expect({ inside: fact.insideWorkspace, protected: fact.protectedBy !== null }).toEqual({ inside: true, protected: true });
});

test.each([
  '/etc/passwd',
  '/ETC/hosts',
  '/boot/x',
  '/dev/sda',
  '/proc/self/mem',
  '/sys/x',
  '/usr/bin/x',
  '/var/spool/cron/x',
  '/etc/../proc/1/environ',
])('%s belongs to the system', (given) => {
  const fact = of(given, 'read');
  expect({ inside: fact.insideWorkspace, protected: fact.protectedBy !== null }).toEqual({ inside: false, protected: true });
});

test.each([
  ...'.git/commondir .git/info/attributes .git/worktrees/x/commondir sub/.git sub/.GIT sub/HEAD sub/commondir'.split(' '),
  // Programs run the content of these files when they start or open the folder.
  ...'.vscode/tasks.json .VSCode/settings.json x.code-workspace .idea/workspace.xml .devcontainer/devcontainer.json .mcp.json'.split(' '),
  ...'.hg/hgrc .config/i3/config .config/nvim/init.lua .vim/plugin/x.vim .devcontainer.json .yarnrc.yml .config/direnv/direnvrc .ghci'.split(
    ' ',
  ),
  ...'.cursor/mcp.json .claude/settings.local.json mise.toml .vimrc .exrc .emacs.d/init.el .dir-locals.el .tmux.conf .gdbinit'.split(' '),
  ...'sitecustomize.py usercustomize.py .venv/lib/python3.12/site-packages/x.pth x.desktop autorun.inf x.lnk .jj/repo/config.toml'.split(
    ' ',
  ),
  ...'.helix/languages.toml .fleet/run.json .gemini/settings.json .codex/config.toml .claude/hooks/x.sh lefthook-local.yml'.split(' '),
  ...'.tool-versions rust-toolchain.toml'.split(' '),
  ...'.lefthook.yaml mise.local.toml .mise/config.toml .autoenv.zsh .shadowenv.d/x.lisp .yarnrc .bundle/config .Renviron'.split(' '),
  ...'.config/Code/User/tasks.json .config/tmux/tmux.conf .xmonad/xmonad.hs .config/helix/config.toml .dir-locals-2.el'.split(' '),
  ...'.irbrc .Rprofile .pre-commit-config.yaml lefthook.yml .cargo/config.toml .config/pip/pip.conf .curlrc .local/bin/ls'.split(' '),
])('%s may be read, and asks before it is written', (path) => {
  expect([facts.of(path, 'read', context).protectedBy, facts.of(path, 'write', context).protectedBy === null]).toEqual([null, false]);
});

test.each([
  ...'environment.ts .envelope git/hooks ssh/x notes.env .github/workflows/ci.yml src/etc/passwd'.split(' '),
  ...'CLAUDE.md .editorconfig .prettierrc .gitignore history.ts src/credentials.ts service-account.ts keys/a.ts vscode/x tests/cert.pem'.split(
    ' ',
  ),
  ...'conftest.py Justfile Taskfile.yml desktop.ts helix/x jj/x codex.md x.pth.md'.split(' '),
  ...'package.json .claude/skills/x/SKILL.md .cursor/rules/x.mdc docs/local/bin.md idea.md emacs.md'.split(' '),
])('%s is an ordinary file', (given) => {
  expect(of(given).protectedBy).toBeNull();
});

test('a file with several hard links is flagged for writing only', () => {
  const reason = 'the file has further names elsewhere (hard links), so a change may reach beyond this folder';
  expect([of('hard.txt').protectedBy, of('hard.txt', 'read').protectedBy]).toEqual([reason, null]);
});

test('the data folder stays protected if the workspace contains it', () => {
  const wide = { workspace: person, home, extraFolders: [root] };
  expect(of(join(home, 'trayclaw.db'), 'write', wide)).toEqual({
    real: join(home, 'trayclaw.db'),
    insideWorkspace: true,
    protectedBy: own,
  });
  expect(of(join(workspace, 'x'), 'write', wide).protectedBy).toBe(own);
  expect(of('notes.md', 'write', wide).protectedBy).toBeNull();
  expect(of('x', 'write', { workspace: home, home, extraFolders: [] }).protectedBy).toBe(own);
});

test('folders given as links count by their targets', () => {
  symlinkSync(extra, join(root, 'extra-link'));
  const linked = { workspace, home, extraFolders: [join(root, 'extra-link'), '~/data/workspace/out'] };
  expect(of(join(extra, 'a'), 'read', linked).insideWorkspace).toBe(true);
  expect(of(join(outside, 'a'), 'read', linked).insideWorkspace).toBe(true);
});

test('a workspace below a system folder does not belong to the system', () => {
  const service = { workspace: '/var/lib/trayclaw/workspace', home: '/var/lib/trayclaw', extraFolders: [] };
  expect(of('/var/lib/trayclaw/workspace/a', 'write', service)).toEqual({
    real: '/var/lib/trayclaw/workspace/a',
    insideWorkspace: true,
    protectedBy: null,
  });
  expect(of('/var/lib/other', 'write', service).protectedBy).not.toBeNull();
});

/** An independent reference: the kernel's real path of the deepest part that exists. */
function kernelRealPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(kernelRealPath(parent), path.slice(parent.length));
  }
}

test('a path reported as inside is inside, whatever its form', () => {
  const part = fc.constantFrom(
    '..',
    '.',
    '',
    'sub',
    'deep',
    'in',
    'out',
    'up',
    'person',
    'data',
    'workspace',
    'dangling',
    'out-file',
    'plain.txt',
    'new',
    'outside',
    '~',
  );
  let insideSeen = 0;
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), fc.boolean(), (parts, absolute) => {
      const given = (absolute ? `${workspace}/` : '') + parts.join('/');
      const fact = facts.of(given, 'write', context);
      if (!fact.insideWorkspace) return;
      insideSeen += 1;
      const truth = kernelRealPath(fact.real);
      expect(truth).toBe(fact.real);
      expect(isInside(truth, workspace) || isInside(truth, extra)).toBe(true);
    }),
    { numRuns: 1000 },
  );
  expect(insideSeen).toBeGreaterThan(100);
});

test('paths that exist resolve as the kernel resolves them', () => {
  const part = fc.constantFrom('..', '.', 'sub', 'deep', 'in', 'out', 'up', 'person', 'data', 'workspace', 'plain.txt');
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
      const given = `${workspace}/${parts.join('/')}`;
      let truth: string;
      try {
        truth = realpathSync.native(given);
      } catch {
        return;
      }
      expect(facts.of(given, 'read', context).real).toBe(truth);
    }),
    { numRuns: 1000 },
  );
});
