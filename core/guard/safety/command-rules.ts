// Detects secrets in command lines and SQL by their place: after the flag of a program, fed to a program that asks for a password, and in
// the statements that make users.

import { escapeRegExp, isJumble, rankOfPlace, type PatternRule } from './pattern-rule.ts';

const onLine = String.raw`[^\n|;]{0,330}`;
/** The words between a program and a flag, also on a line that continues. */
const between = String.raw`(?:[^\n|;\\]|\\\n?){0,160}?`;
const letter = String.raw`[^\s"'\x60$<>|;&(){}\\]`;
const value = `(${letter}{6,200})`;

type Flag = readonly [trigger: string, before: string, reach: string];

/** Of these programs, `-p`, `-P` or `-w` gives a password. */
const passwordPrograms =
  'sqlcmd|mongosh|mongo|mongodump|mongorestore|psexec|ldapsearch|ldapadd|ldapmodify|ldapdelete|mycli|useradd|usermod|ipmitool|az login|docker login|podman login|oc login|cf login|registry login|twine upload|mosquitto_pub|mosquitto_sub'.split(
    '|',
  );

/**
 * A word after these patterns is a password. `before` matches everything up to the password, from the trigger on. `reach` matches text
 * after the trigger that may still lead to a password. A stream waits for such text, so `reach` matches commands but not prose about them.
 */
const flags: readonly Flag[] = [
  [
    'curl ',
    String.raw`curl (?=[-"'h\\]|[\w-]{1,63}\.\w)${between}(?:(?<=\s)-[A-Za-z]{0,8}u ?|--(?:proxy-)?user[ =])["']?[^\s:"']{1,100}:`,
    String.raw`(?:(?:[-"'h\\]|[\w-]{1,63}\.)(?:[^\n|;\\]|\\\n?){0,330})?`,
  ],
  ['sshpass ', String.raw`sshpass (?:-[^\n|;]{0,40}? ?)?-p ?["']?`, `(?:-${onLine})?`],
  ...['mysql', 'mariadb'].map((name): Flag => [
    name,
    String.raw`${name}(?:-?(?:dump|admin|import|show|check))?(?: -[^\n|;]{0,120}?)? -p["']?`,
    `[a-z-]{0,7}(?: (?:-${onLine})?)?`,
  ]),
  ['mysqladmin ', String.raw`mysqladmin ${between}password ["']?`, `(?:-${onLine})?`],
  ['redis-cli ', String.raw`redis-cli (?:-[^\n|;]{0,120}? )?(?:-a|--pass) ["']?`, `(?:-${onLine})?`],
  ['pass:', String.raw`(?<=[\s"'/=])pass:`, String.raw`\S{0,201}`],
  ['-pass', String.raw`(?<=\s-|\s--[a-z-]{1,20})-pass(?:word|phrase|wd)?[= ]["']?`, String.raw`[a-z]{0,6}[= ]?["']?\S{0,201}`],
  [
    'htpasswd ',
    String.raw`htpasswd (?=[^\n|;]{0,40}?-[A-Za-z]*b)(?:-[A-Za-z]{1,6} (?:\d{1,2} )?){1,5}(?:[^\s-]\S{0,99} )?[^\s-]\S{0,59} ["']?`,
    `(?:-${onLine})?`,
  ],
  ['-Password ', '-Password ["\']?', String.raw`["']?\S{0,201}`],
  ['net user ', String.raw`net user \S{1,60} ["']?`, String.raw`\S{0,60}(?: ["']?\S{0,201})?`],
  // A constant in PHP.
  [
    'define(',
    String.raw`define\( ?["']\w{0,60}(?:PASS|PASSWORD|SECRET|TOKEN|KEY|SALT)\w{0,20}["'] {0,2}, {0,3}["']`,
    String.raw`(?: ?["']\w{0,90}(?:["'] {0,2},?${onLine})?)?`,
  ],
  ['IDENTIFIED ', String.raw`IDENTIFIED (?:WITH \w{1,40} )?BY ["']?`, String.raw`(?:[WB]${onLine})?`],
  ['identified ', String.raw`identified (?:with \w{1,40} )?by ["']`, String.raw`(?:with \w{0,40} ?)?(?:b?y? ?(?:["']\S{0,201})?)?`],
  ...['7z ', '7za ', 'rar '].map((name): Flag => [name, String.raw`${name}(?=[a-z] )[^\n|;]{0,120}? -h?p["']?`, `(?:[a-z] ${onLine})?`]),
  ['zip ', String.raw`zip (?:-[^\n|;]{0,120}? )?-P ?["']?`, `(?:-${onLine})?`],
  ...passwordPrograms.map((name): Flag => [`${name} `, String.raw`${name} ${between}(?<=\s)-[pPw] ["']?`, onLine]),
  ['ssh-keygen ', String.raw`ssh-keygen ${between}-[NP] ["']?`, onLine],
  ...['plink ', 'pscp ', 'psftp '].map((name): Flag => [name, String.raw`${name}${between}-pw ["']?`, onLine]),
  ['openssl enc ', String.raw`openssl enc ${between}-k ["']?`, onLine],
  ['openssl passwd ', String.raw`openssl passwd (?:-\w{1,10} ){0,4}["']?`, String.raw`(?:-\w{0,10} ?){0,4}(?:["']?\S{0,201})?`],
  ['rabbitmqctl ', String.raw`rabbitmqctl (?:add_user|change_password) \S{1,60} ["']?`, onLine],
  ['nmcli ', String.raw`nmcli ${between}password ["']?`, onLine],
  ['gh secret set ', String.raw`gh secret set ${between}(?:--body[ =]|-b ?)["']?`, onLine],
  ['--secret-string ', String.raw`--secret-string ["']?`, String.raw`["']?\S{0,201}`],
  ['sqlplus ', String.raw`sqlplus (?:-\w{1,10} ){0,3}["']?\w{1,40}/["']?`, onLine],
  ['jdbc:oracle:', String.raw`jdbc:oracle:\w{1,10}:\w{1,40}/`, String.raw`\S{0,260}`],
  ...['http -', 'https -', 'xh -'].map((name): Flag => [
    name,
    String.raw`${name}(?:a |-auth[= ])["']?[^\s:"']{1,100}:`,
    String.raw`[a-]${onLine}`,
  ]),
  ['smbclient ', String.raw`smbclient [^\n|;]{0,120}?-U ?["']?[^\s%"']{1,60}%`, onLine],
  ['lftp ', String.raw`lftp [^\n|;]{0,60}?-u ["']?[^\s,"']{1,60},["']?`, onLine],
  ['net use ', String.raw`net use [^\n|;]{0,120}?/user:\S{1,60} ["']?`, onLine],
  ['wpa_passphrase ', String.raw`wpa_passphrase \S{1,60} ["']?`, String.raw`\S{0,60}(?: ["']?\S{0,201})?`],
  ['rdp ', String.raw`rdp [^\n|;]{0,160}?/p:["']?`, onLine],
  ['schtasks ', String.raw`schtasks [^\n|;]{0,160}?/rp ["']?`, onLine],
  ['SecureString ', String.raw`SecureString (?:(?:-String )?["']|${between}--value[ =]["']?)`, onLine],
  ['authtoken ', 'authtoken ', String.raw`\S{0,201}`],
  ['wifi-sec.psk ', String.raw`wifi-sec\.psk ["']?`, String.raw`["']?\S{0,201}`],
  // The code that a telephone scans to join a network.
  ['WIFI:', String.raw`WIFI:(?:[STH]:[^;\n]{0,64};){0,3}P:`, onLine],
  ['requirepass ', String.raw`requirepass ["']?`, String.raw`["']?\S{0,201}`],
  ...['-storepass ', '-keypass '].map((name): Flag => [name, String.raw`${name}["']?`, String.raw`["']?\S{0,201}`]),
  // In a Dockerfile.
  ['ENV ', String.raw`(?<![^\n])ENV \w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD)\w{0,20} ["']?`, String.raw`\w{0,70}(?: ["']?\S{0,201})?`],
  ['setx ', String.raw`setx \w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD)\w{0,20} ["']?`, String.raw`\w{0,70}(?: ["']?\S{0,201})?`],
  // In the address of a database, between other settings.
  ...[';Password=', ';Pwd=', ';PWD=', ';password='].map((name): Flag => [name, name, String.raw`\S{0,201}`]),
];

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

/** Programs that take a password from their input. */
const takers = String.raw`(?:chpasswd|(?:vnc|smb)?passwd|cryptsetup|kinit|sudo (?:-[A-Za-z]{1,4} ){0,2}-S|[^\n|;]{0,80}--(?:password-stdin|passphrase-fd 0))`;

/** `echo ada:… | chpasswd`, and the same with the text behind the program. */
function fedRules(): PatternRule[] {
  const user = String.raw`(?:[\w.-]{1,60}:)?`;
  const printed = String.raw`(?:-[neE]{1,3} |["']?[\w.:-]{0,60}%s(?:\\n)?["']? )?["']?${user}`;
  const end = String.raw`(?=(?:\\n[^\n|"']{0,200})?["']?\s?\|\s?(?:sudo (?!-))?${takers})`;
  const given = String.raw`(?:<<<\s?["']?|<<-?\s?["']?\w{1,20}["']?\n)`;
  return [
    {
      name: 'secret',
      triggers: ['echo ', 'printf '],
      pattern: new RegExp(String.raw`(?:echo|printf) ${printed}(${letter}{6,200}(?:\\n${letter}{1,200})?)${end}`, 'y'),
      reach: new RegExp(
        String.raw`(?:echo|printf) (?:-[neE]{1,3} )?["']?[^\s"'|]{0,260}["']? ?[^\s"'|]{0,201}["']?\s?(?:\|[^\n|;]{0,90})?`,
        'y',
      ),
      rank: rankOfPlace,
      accept,
    },
    {
      name: 'secret',
      triggers: ['passwd', 'cryptsetup ', 'kinit '],
      pattern: new RegExp(String.raw`(?:passwd|cryptsetup|kinit)[^\n|;<]{0,80}${given}${user}${value}`, 'y'),
      reach: /(?:passwd|cryptsetup|kinit)[^\n|;<]{0,80}(?:<{0,3}-?\s?["']?(?:\w{0,20}["']?\n)?[\w.-]{0,60}:?[^\s"']{0,201})?/y,
      rank: rankOfPlace,
      accept,
    },
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
