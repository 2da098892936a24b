// Commands that are known by all their words: they show a version, help or installed packages. A word more makes them something else.

import { expect, test } from 'vitest';
import { environmentOfQuestion, readQuestion } from './question-table.ts';

const asked = (line: string): string | null => readQuestion(line.split(' '));

test.each([
  ['ls --version', 'shows its version'],
  ['grep --help', 'shows its help'],
  ['git version', 'shows its version'],
  ['git --help', 'shows its help'],
  ['node -v', 'shows its version'],
  ['java -version', 'shows its version'],
  ['ssh -V', 'shows its version'],
  ['kubectl version --client', 'shows its version'],
  ['npm ls', 'shows installed packages'],
  ['npm ls --depth=0 @a/b c', 'shows installed packages'],
  ['npm list -g --depth 0', 'shows installed packages'],
  ['npm root -g', 'shows installed packages'],
  ['npm run', 'shows installed packages'],
  ['npm pkg get scripts.test', 'shows installed packages'],
  ['npm why a', 'shows installed packages'],
  ['pip list --format=json', 'shows installed packages'],
  ['pip3 show -f a b', 'shows installed packages'],
  ['pip check', 'shows installed packages'],
  ['apt list --installed', 'shows installed packages'],
  ['apt-cache policy bash', 'shows installed packages'],
  ['systemctl is-active nginx', 'shows the states of services'],
  ['systemctl --user list-units --type=service --state=running --no-pager', 'shows the states of services'],
  ['systemctl --failed', 'shows the states of services'],
  ['systemctl list-timers --all', 'shows the states of services'],
])('%s %s', (line, reads) => {
  expect(asked(line)).toBe(reads);
});

test.each([
  'npm',
  'npm run x',
  'npm ls --prefix=x',
  'npm ls --userconfig x',
  'npm ls --script-shell=./x',
  'npm view a',
  'npm outdated',
  'npm audit',
  'npm pkg set a=b',
  'npm pkg get a --prefix=x',
  'npm root --prefix x',
  'npm explain ./x',
  'npm config list',
  'pip freeze',
  'pip list --outdated',
  'pip list --path=x',
  'pip show --x',
  'pip --python x list',
  'pip install x',
  'node --version x.js',
  'node --help --eval=1',
  'python3 --version -c x',
  'make --version -f x',
  'bash --version -c x',
  'git version x',
  'git help log',
  'git log --help',
  'docker --help',
  'mvn --version',
  'gradle --version',
  'go version',
  'pnpm --version',
  'ansible --version',
  'kubectl version',
  'apt list',
  'apt list --installed -o Dir=x',
  'apt-cache search x',
  'systemctl status nginx',
  'systemctl cat nginx',
  'systemctl show nginx',
  'systemctl --user',
  'systemctl -H x is-active y',
  'systemctl is-active --host=x y',
  'systemctl --root=x list-unit-files',
  'systemctl list-units /etc/x',
  'systemctl restart x',
  'nosuch --version',
  'ls --version x',
])('%s may do more', (line) => {
  expect(asked(line)).toBeNull();
});

test('a word with a blank in it is not a list of words', () => {
  expect(readQuestion(['npm', 'ls --prefix=x'])).toBeNull();
  expect(readQuestion(['npm', 'ls a'])).toBeNull();
});

test('package managers do not ask for a newer version of themselves', () => {
  expect(environmentOfQuestion('npm')).toEqual(environmentOfQuestion('pip'));
  expect(environmentOfQuestion('npm')).toEqual({ npm_config_update_notifier: 'false', PIP_DISABLE_PIP_VERSION_CHECK: '1' });
  expect(environmentOfQuestion('ls')).toEqual({});
});
