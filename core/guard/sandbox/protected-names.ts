// Names that are protected anywhere below a folder that a confined command may write: key files are hidden from it, and files that run
// automatically later are read-only. Pure.

export type ProtectedKind = 'secret' | 'code';

export interface ProtectedName {
  readonly kind: ProtectedKind;
  readonly reason: string;
  /** A new file of this name is harmless: it takes effect only through a setting that is itself protected. */
  readonly mayAppear?: true;
}

const KEYS: ProtectedName = { kind: 'secret', reason: 'it usually holds keys' };
const START: ProtectedName = { kind: 'code', reason: 'it runs automatically when a shell or session starts' };
const GIT: ProtectedName = { kind: 'code', reason: 'git runs commands from it' };

const names = new Map<string, ProtectedName>([
  ...listed(KEYS, [
    '.env .envrc .ssh .gnupg .aws .azure .kube .password-store .netrc _netrc .pgpass .npmrc .pypirc .git-credentials .vault-token',
    '.docker .terraform.d keychains keyrings',
  ]),
  ...listed(START, [
    '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc',
    '.tcshrc .login .inputrc .xprofile .xinitrc .pam_environment',
  ]),
  ...listed(GIT, ['.gitconfig']),
  ...listed({ ...GIT, mayAppear: true }, ['.husky']),
]);

/** `.env.production` contains keys, but files with these suffixes are meant to be public. */
const sampleSuffix = /\.(?:example|sample|template|dist|schema)$/;

/** Compares only the last part of the name, in lower case, so that it also works on disks that ignore case. */
export function protectionOfName(name: string): ProtectedName | null {
  const lower = name.toLowerCase();
  const exact = names.get(lower);
  if (exact !== undefined) return exact;
  if (/^id_(?:rsa|dsa|ecdsa|ed25519)(?:\.(?!pub$)|$)/.test(lower)) return KEYS;
  return lower.startsWith('.env.') && !sampleSuffix.test(lower) ? KEYS : null;
}

function listed(protection: ProtectedName, lines: readonly string[]): [string, ProtectedName][] {
  return lines.flatMap((line) => line.split(' ')).map((name) => [name, protection]);
}
