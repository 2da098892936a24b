// Whether a git configuration names nothing that git would run. Pure; reads the text, knows no repository.

/** Settings that only describe a repository, its remotes and branches. Everything else may name a program, a file or a place of its own. */
const harmless: readonly RegExp[] = [
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|abbrev)$/,
  /^extensions\.(?:objectformat|refstorage|partialclone)$/,
  /^remote\..*\.(?:url|fetch|pushurl|tagopt|promisor|partialclonefilter)$/,
  /^branch\..*\.(?:remote|merge|rebase)$/,
  /^user\.(?:name|email)$/,
  /^(?:init\.defaultbranch|pull\.rebase|push\.default)$/,
];

/** Transports git itself speaks. `ext::` and `helper::` forms run commands. */
const plainAddress = /^(?:https?:\/\/|ssh:\/\/|git:\/\/|[\w.-]+@[\w.-]+:(?!:)|\/|\.{1,2}\/)/;

/** A setting that can make git run something, by its name, or null. What cannot be read counts as such a setting. */
export function findRunnableSetting(text: string): string | null {
  let section = '';
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const header = /^\[\s*([\w.-]+)(?:\s+"([^"\\]*)")?\s*\]$/.exec(line);
    if (header !== null) {
      section = (header[1] ?? '').toLowerCase() + (header[2] === undefined ? '' : `.${header[2]}`);
      continue;
    }
    const setting = /^([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/.exec(line);
    // A line that goes on in the next could hide a setting from a reader by lines.
    if (setting === null || line.endsWith('\\')) return `${section}: ${line.slice(0, 60)}`;
    const name = `${section}.${(setting[1] ?? '').toLowerCase()}`;
    if (!harmless.some((pattern) => pattern.test(name))) return name;
    if (/\.(?:push)?url$/.test(name) && !plainAddress.test(unquoted(setting[2] ?? ''))) return name;
  }
  return null;
}

function unquoted(value: string): string {
  return value.replace(/^"(.*)"$/, '$1');
}
