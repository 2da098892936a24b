// Reads a repository's own settings, and says which of them could make git run something or look elsewhere: everything that is not on
// a list of settings known to do neither.

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

const section = /^\[\s*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\]|\\["\\])*)")?\s*\](.*)$/;
const assignment = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?$/;

/**
 * Why settings cannot be taken for harmless, or null. A form that is not fully understood (a value that goes on in the next
 * line, for one) is a reason. `isOwnFolder` judges where the settings say that the files lie: a submodule's name its own folder.
 */
export function configProblem(text: string, isOwnFolder: (path: string) => boolean): string | null {
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
    if (found === null || prefix === null || line.endsWith('\\')) return 'a setting that cannot be read';
    const key = `${prefix}.${found[1]}`.toLowerCase();
    const value = found[2] ?? 'true';
    if (key === 'core.worktree' ? !isOwnFolder(value) : !isHarmless(key, value)) return shownKey(key);
  }
  return null;
}

function isHarmless(key: string, value: string): boolean {
  if (!harmless.test(key)) return false;
  // A remote helper is a program; git runs none of these unasked, and this keeps it so.
  if (key.endsWith('url') && /^\s*"?(?:ext|fd)::/i.test(value)) return false;
  return key !== 'core.bare' || /^"?(?:false|no|off|0)"?$/i.test(value.trim());
}

function shownKey(key: string): string {
  return key.replace(/[^\x21-\x7e]/g, '?').slice(0, 80);
}
