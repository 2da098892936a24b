// Parses a git configuration by git's rules: its settings, whether one of them could make git run something or use other places, and the
// files it names. Pure.

import { isAbsolute, join } from 'node:path';
import { isInside } from './inside-folder.ts';

export interface GitSetting {
  /** In lower case: `core.hookspath`, `filter.x.clean`. */
  readonly key: string;
  /** The literal text, including quotes. */
  readonly value: string;
}

/** Settings known to run nothing and to refer to nothing. Any other setting may do so. */
const harmless = new RegExp(
  [
    '^(?:core\\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf',
    '|quotepath|abbrev|compression|untrackedcache|preloadindex|longpaths|protectntfs|protecthfs|whitespace|sharedrepository|commentchar)',
    '|extensions\\.worktreeconfig|user\\.(name|email|useconfigonly)|init\\.defaultbranch|color\\..*|push\\.(default|autosetupremote|followtags)',
    '|pull\\.(rebase|ff)|fetch\\.(prune|prunetags|parallel)|rebase\\.(autosquash|autostash)|merge\\.(conflictstyle|ff)|rerere\\.enabled',
    '|status\\.(showuntrackedfiles|short|branch|relativepaths|aheadbehind|renames|showstash)|commit\\.verbose|column\\..*|gc\\.(auto|autodetach|pruneexpire|reflogexpire)|pack\\.[a-z]+',
    '|diff\\.(renames|renamelimit|algorithm|mnemonicprefix|noprefix|colormoved|colormovedws|context|interhunkcontext|submodule|wserrorhighlight)',
    '|log\\.(date|decorate|abbrevcommit|follow)|blame\\.(date|showemail)|branch\\.(sort|autosetuprebase|autosetupmerge)|tag\\.sort',
    '|branch\\..+\\.(remote|merge|rebase|description|pushremote|vscode-merge-base|gh-merge-base|base)',
    '|remote\\..+\\.(url|pushurl|fetch|push|tagopt|prune|gh-resolved|mirror)|remote\\.pushdefault|submodule\\.(active|recurse|.+\\.(url|active|ignore))',
    '|gui\\..*|lfs\\.(repositoryformatversion|.+\\.access)|advice\\..*|credential\\.username|index\\.version)$',
  ].join(''),
  'i',
);

/** For these settings, the person's git may later fetch something, but runs nothing that a repository names. */
const harmlessUnread = /^(?:core\.bare|extensions\.(?:objectformat|refstorage|partialclone)|remote\..+\.(?:promisor|partialclonefilter))$/;

const section = /^\[\s*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\]|\\["\\])*)")?\s*\](.*)$/;
const assignment = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?$/;

export interface SettingsReader {
  /** Returns whether a path named by a setting is the submodule's own folder. */
  readonly isOwnFolder: (path: string) => boolean;
  /** read: TrayClaw runs git here now, without an approval. kept: a person may run git here later. */
  readonly as: 'read' | 'kept';
}

/** Returns why the settings may not be harmless, or null. A form that is not fully understood is a reason. */
export function configProblem(text: string, { isOwnFolder, as }: SettingsReader): string | null {
  for (const setting of readSettings(text)) {
    if (setting === null) return 'a setting that cannot be read';
    const { key, value } = setting;
    if (key === 'core.worktree' ? isOwnFolder(value) : isHarmless(setting)) continue;
    if (as === 'kept' && harmlessUnread.test(key)) continue;
    return key.replace(/[^\x21-\x7e]/g, '?').slice(0, 80);
  }
  return null;
}

/** Parses line by line. A line that is not understood (for example a value that continues in the next line) becomes null. */
function readSettings(text: string): (GitSetting | null)[] {
  const settings: (GitSetting | null)[] = [];
  let prefix: string | null = null;
  for (const raw of text.split(/\r?\n/)) {
    let line = raw.replace(/^\ufeff/, '').trim();
    const head = section.exec(line);
    if (head !== null) {
      prefix = head[2] === undefined ? `${head[1]}` : `${head[1]}.${head[2]}`;
      line = (head[3] ?? '').trim();
    }
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const found = assignment.exec(line);
    const isRead = found !== null && prefix !== null && !line.endsWith('\\');
    settings.push(isRead ? { key: `${prefix}.${found[1]}`.toLowerCase(), value: found[2] ?? 'true' } : null);
  }
  return settings;
}

function isHarmless({ key, value }: GitSetting): boolean {
  if (!harmless.test(key)) return false;
  // A remote helper is a program. Git runs none of these unless asked, and this rule keeps it so.
  if (key.endsWith('url') && /^\s*(?:ext|fd)::/i.test(unquoted(value))) return false;
  return key !== 'core.bare' || /^"?(?:false|no|off|0)"?$/i.test(value.trim());
}

/** Quotes may be anywhere in a value; git drops them. */
function unquoted(value: string): string {
  return value.replace(/\\(.)/g, '$1').replaceAll('"', '');
}

export interface NamingPlace {
  /** The folder in which git runs commands. */
  readonly root: string;
  /** The folder of the settings file, which include paths are relative to. */
  readonly folder: string;
  readonly userHome: string;
}

const pathSetting = /^(?:core\.(?:hookspath|attributesfile|sshcommand|fsmonitor)|include\.path|includeif\..+\.path|init\.templatedir)$/;

/**
 * Returns the absolute paths that settings name: hooks, filters, monitors and includes. Words that may be a file of the repository
 * (`clean.sh`) count; plain words (`git-lfs`) do not.
 */
export function namedBySettings(text: string, place: NamingPlace): string[] {
  const named: string[] = [];
  for (const setting of readSettings(text.replace(/\\\r?\n/g, ' '))) {
    if (setting === null || isHarmless(setting) || harmlessUnread.test(setting.key) || setting.key === 'core.worktree') continue;
    const value = unquoted(setting.value).replace(/^!/, '');
    const base = setting.key.startsWith('include') ? place.folder : place.root;
    const words = value.split(/[\s;|&'`(){}<>=$]+/).filter((word) => word.includes('/') || /\.\w+$/.test(word));
    const meant = pathSetting.test(setting.key) ? [value.trim(), ...words] : words;
    named.push(...meant.filter((word) => word !== '').map((word) => absolute(word, base, place.userHome)));
  }
  // A folder that contains the repository is not protected as a whole, even if a setting names it.
  return [...new Set(named)].filter((path) => !isInside(place.root, path));
}

/** Returns the absolute paths of the files that settings include. */
export function includedBySettings(text: string, folder: string, userHome: string): string[] {
  return readSettings(text).flatMap((setting) =>
    setting !== null && /^include(?:if\..+)?\.path$/.test(setting.key) ? [absolute(unquoted(setting.value).trim(), folder, userHome)] : [],
  );
}

function absolute(path: string, base: string, userHome: string): string {
  if (path.startsWith('~/')) return join(userHome, path.slice(2));
  return isAbsolute(path) ? join(path) : join(base, path);
}
