// Detects secrets in command lines and SQL by their place: after the flag of a program, fed to a program that asks for a password, and in
// the statements that make users.

import { letter, flags } from './flag-table.ts';
import { escapeRegExp, isJumble, rankOfPlace, type PatternRule } from './pattern-rule.ts';

const value = `(${letter}{6,200})`;

function accept(secret: string): boolean {
  return /[A-Za-z]/.test(secret) && (/[^A-Za-z]/.test(secret) || isJumble(secret)) && !/^[/.*[\\-]|^\*+$|x{5}/.test(secret);
}

export function createCommandRules(): PatternRule[] {
  const afterFlags = flags.map(([trigger, before, reach]) => ({
    name: 'secret',
    triggers: [trigger],
    pattern: new RegExp(before + value, 'y'),
    reach: new RegExp(escapeRegExp(trigger) + reach, 'y'),
    rank: rankOfPlace,
    accept,
  }));
  return [...afterFlags, ...fedRules(), userRule()];
}

/** Programs that keep a secret which they read from their input. */
const keepers =
  '(?:wrangler secret put|(?:docker|podman) secret create|vercel env add|vault login|secret-tool store|pass insert|keepassxc-cli add)[^\\n|;<]{0,80}';

/** Programs that take a password from their input. */
const takers = String.raw`(?:chpasswd|(?:vnc|smb)?passwd|cryptsetup|kinit|sudo (?:-[A-Za-z]{1,4} ){0,2}-S|[^\n|;]{0,80}--(?:password-stdin|passphrase-fd 0|with-token)|${keepers})`;

/** A file that is named for the secret in it. */
const secretFile = String.raw`["']?(?:[\w.~/-]{0,100}[/._-])?(?:passw(?:or)?d|pw|passphrase|secrets?|tokens?|credentials?|api[_-]?key|vault[_-]pass|psk)(?![A-Za-z/])`;

/** `echo ada:… | chpasswd`, `echo … > token.txt`, and the same with the text behind the program. */
function fedRules(): PatternRule[] {
  const user = String.raw`(?:[\w.-]{1,60}:)?`;
  const printed = String.raw`(?:-[neE]{1,3} |["']?[\w.:-]{0,60}%s(?:\\n)?["']? )?["']?${user}`;
  const end = String.raw`(?=(?:\\n[^\n|"']{0,200})?["']?\s?(?:\|\s?(?:sudo (?!-))?${takers}|(?:>{1,2}|\|\s?(?:sudo )?tee (?:-a )?)\s?${secretFile}))`;
  const fed = '(?:passwd|cryptsetup|kinit|--with-token|secret (?:put|create)|env add|secret-tool store|pass insert)';
  const given = String.raw`(?:<<<\s?["']?|<<-?\s?["']?\w{1,20}["']?\n)`;
  return [
    {
      name: 'secret',
      triggers: ['echo ', 'printf '],
      pattern: new RegExp(String.raw`(?:echo|printf) ${printed}(${letter}{6,200}(?:\\n${letter}{1,200})?)${end}`, 'y'),
      reach: new RegExp(
        String.raw`(?:echo|printf) (?:-[neE]{1,3} )?["']?[^\s"'|>]{0,260}["']? ?["']?[^\s"'|>]{0,201}["']?\s?(?:[|>][^\n|;]{0,130})?`,
        'y',
      ),
      rank: rankOfPlace,
      accept,
    },
    ...heredocRules(user),
    {
      name: 'secret',
      triggers: ['" | ConvertTo-SecureString', "' | ConvertTo-SecureString"],
      before: /[^\s"']{6,79}$/,
      pattern: new RegExp(String.raw`${value}(?=["'] \| ConvertTo-SecureString)`, 'y'),
      reach: /["'] \| ConvertTo-SecureString/y,
      rank: rankOfPlace,
      accept,
    },
    {
      name: 'secret',
      triggers: [
        'passwd',
        'cryptsetup ',
        'kinit ',
        '--with-token',
        'secret put ',
        'secret create ',
        'env add ',
        'secret-tool store ',
        'pass insert ',
      ],
      pattern: new RegExp(String.raw`${fed}[^\n|;<]{0,80}${given}${user}${value}`, 'y'),
      reach: /[a-z-]{5,14}[^\n|;<]{0,90}(?:<{0,3}-?\s?["']?(?:\w{0,20}["']?\n)?[\w.-]{0,60}:?[^\s"']{0,201})?/y,
      rank: rankOfPlace,
      accept,
    },
  ];
}

/** `cat > token.txt <<EOF`, and the same with the file behind the mark. */
function heredocRules(user: string): PatternRule[] {
  const into = String.raw`(?:>{1,2}|tee (?:-a )?)\s?${secretFile}[\w.-]{0,20}["']?`;
  const mark = String.raw`<<-?\s?["']?(?:EOF|EOT|END|EOL)["']?`;
  const shared = {
    name: 'secret',
    triggers: ['EOF', 'EOT', 'END', 'EOL'].flatMap((word) =>
      ['<<', '<< ', '<<-'].flatMap((sign) => ['', "'", '"'].map((quote) => sign + quote + word)),
    ),
    reach: new RegExp(String.raw`${mark}[^\n]{0,140}\n?${user}${letter}{0,201}`, 'y'),
    rank: rankOfPlace,
    accept,
  };
  const first = String.raw`\n${user}${value}(?=\s{0,3}(?:\n|$))`;
  return [
    {
      ...shared,
      before: new RegExp(String.raw`${into}\s{0,3}$`),
      pattern: new RegExp(String.raw`${into}\s{0,3}${mark}[ \t]{0,3}${first}`, 'y'),
    },
    { ...shared, pattern: new RegExp(String.raw`${mark}\s{0,3}\|?\s?${into}[ \t]{0,3}${first}`, 'y') },
  ];
}

/** `ALTER ROLE ada PASSWORD '…'`. */
function userRule(): PatternRule {
  const pairs = ['alter role', 'create role', 'alter user', 'create user', 'alter login', 'create login', 'set password'];
  return {
    name: 'secret',
    triggers: pairs.flatMap((pair) => [`${pair} `, `${pair.toUpperCase()} `]),
    pattern: new RegExp(
      String.raw`(?:(?:alter|create) (?:role|user|login) [^;]{0,200}?password\s{0,3}=?|set password [^;=]{0,120}=)\s{0,3}(?:password\()?N?["']${value}(?=["'])`,
      'iy',
    ),
    reach: /(?:(?:alter|create) (?:role|user|login)|set password) [^;]{0,400}/iy,
    rank: rankOfPlace,
    accept,
  };
}
