// Detects secrets by their place if no word names them: after the flag of a program, in the query of a URL, in the credentials of a header,
// and in session cookies.

import { escapeRegExp, isJumble, looksDense, rankOfPlace, type PatternRule } from './pattern-rule.ts';

export function createPlaceRules(): PatternRule[] {
  return [authorizationRule(), queryRule(), userInfoRule(), ...cookieRules(), ...flagRules(), phraseRule()];
}

/** Any scheme: `Authorization: Token …`, `SSWS …`, or the key alone. */
function authorizationRule(): PatternRule {
  return {
    name: 'authorization',
    triggers: ['Authorization', 'authorization', 'AUTHORIZATION'],
    pattern:
      /authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:[A-Za-z][\w-]{1,20} {1,2})?(?:(?:token|key)=)?["']?([A-Za-z0-9._~+/=:-]{16,4000})/iy,
    reach: /authorization["']?\s{0,3}[:=]?\s{0,3}["']?(?:[A-Za-z][\w-]{0,20} {0,2})?(?:[a-z]{0,5}=?)?["']?[A-Za-z0-9._~+/=:-]{0,4001}/iy,
    rank: rankOfPlace,
    accept: looksDense,
  };
}

const queryNames =
  'key token auth sig signature code appid secret pass password pwd session sid apikey api_key api-key access_token auth_token X-Amz-Signature X-Amz-Security-Token X-Goog-Signature'.split(
    ' ',
  );

function queryRule(): PatternRule {
  return {
    name: 'url-key',
    triggers: queryNames.flatMap((name) => ['?', '&', '#'].map((before) => `${before}${name}=`)),
    pattern: /[?&#][A-Za-z_-]{3,20}=([A-Za-z0-9%._~+/=-]{16,4000})/y,
    reach: /[?&#][A-Za-z_-]{3,20}=[A-Za-z0-9%._~+/=-]{0,4001}/y,
    rank: rankOfPlace,
    accept: looksDense,
  };
}

/** A key in place of the user: `https://KEY@host`. */
function userInfoRule(): PatternRule {
  return {
    name: 'url-key',
    triggers: ['://'],
    pattern: /:\/\/([A-Za-z0-9_%.~-]{24,255})(?=@)/y,
    reach: /:\/\/[A-Za-z0-9_%.~-]{0,256}/y,
    rank: rankOfPlace,
    accept: looksDense,
  };
}

function cookieRules(): PatternRule[] {
  const value = '[A-Za-z0-9%._~+/=:-]';
  return [
    {
      name: 'cookie',
      triggers: ['PHPSESSID=', 'JSESSIONID=', 'sessionid=', 'SessionId=', 'sessionId=', 'session=', 'sid='],
      pattern: new RegExp(String.raw`(?:PHPSESSID|JSESSIONID|[sS]ession(?:[iI]d)?|(?<![A-Za-z])sid)=(${value}{16,4000})`, 'y'),
      reach: new RegExp(String.raw`[A-Za-z]{3,10}=${value}{0,4001}`, 'y'),
      rank: rankOfPlace,
      accept: looksDense,
    },
    {
      // The cookie file format that curl and wget share: the value is the seventh field.
      name: 'cookie',
      triggers: ['\tTRUE\t', '\tFALSE\t'],
      pattern: /\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\r\n]{1,100}\t([^\t\r\n]{8,4000})/y,
      reach: /\t(?:TRUE|FALSE)\t\d{0,12}\t?[^\t\r\n]{0,100}\t?[^\t\r\n]{0,4001}/y,
      rank: rankOfPlace,
      accept: looksDense,
    },
  ];
}

const onLine = String.raw`[^\n|;]{0,330}`;

/**
 * A word after these patterns is a password. `before` matches everything up to the password, from the trigger on. `reach` matches text
 * after the trigger that may still lead to a password. A stream waits for such text, so `reach` matches commands but not prose about them.
 */
const flags: readonly (readonly [trigger: string, before: string, reach: string])[] = [
  ['curl ', String.raw`curl (?=[-"'h])[^\n|;]{0,120}?(?:-u ?|--(?:proxy-)?user[ =])["']?[^\s:"']{1,100}:`, `(?:[-"'h]${onLine})?`],
  ['sshpass ', String.raw`sshpass (?:-[^\n|;]{0,40}? ?)?-p ?["']?`, `(?:-${onLine})?`],
  ['mysql', String.raw`mysql(?:dump|admin|import|show)?(?: -[^\n|;]{0,120}?)? -p["']?`, `[a-z]{0,6}(?: (?:-${onLine})?)?`],
  ['redis-cli ', String.raw`redis-cli (?:-[^\n|;]{0,120}? )?(?:-a|--pass) ["']?`, `(?:-${onLine})?`],
  ['pass:', String.raw`(?<=[\s"'])pass:`, String.raw`\S{0,201}`],
  ['htpasswd ', String.raw`htpasswd -[A-Za-z]*b[A-Za-z]* \S{1,100} \S{1,60} ["']?`, `(?:-${onLine})?`],
  ['net user ', String.raw`net user \S{1,60} ["']?`, String.raw`\S{0,60}(?: ["']?\S{0,201})?`],
  // A constant in PHP.
  [
    'define(',
    String.raw`define\( ?["']\w{0,60}(?:PASS|PASSWORD|SECRET|TOKEN|KEY|SALT)\w{0,20}["'] {0,2}, {0,3}["']`,
    String.raw`(?: ?["']\w{0,90}(?:["'] {0,2},?${onLine})?)?`,
  ],
  ['docker login ', String.raw`docker login (?:-[^\n|;]{0,120}? )?-p ?["']?`, `(?:-${onLine})?`],
  ['IDENTIFIED ', String.raw`IDENTIFIED (?:WITH \w{1,40} )?BY ["']`, String.raw`(?:[WB]${onLine})?`],
  ['7z ', String.raw`7z (?=[a-z] )[^\n|;]{0,120}? -p["']?`, `(?:[a-z] ${onLine})?`],
  ['zip ', String.raw`zip (?:-[^\n|;]{0,120}? )?-P ?["']?`, `(?:-${onLine})?`],
  ...(['sqlcmd', 'mongosh', 'az login', 'twine upload', 'psexec', 'ldapsearch'] as const).map(
    (program) => [`${program} `, String.raw`${program} [^\n|;]{0,160}?-[pPw] ["']?`, onLine] as const,
  ),
  ['smbclient ', String.raw`smbclient [^\n|;]{0,120}?-U ?["']?[^\s%"']{1,60}%`, onLine],
  ['lftp ', String.raw`lftp [^\n|;]{0,60}?-u ["']?[^\s,"']{1,60},["']?`, onLine],
  ['net use ', String.raw`net use [^\n|;]{0,120}?/user:\S{1,60} ["']?`, onLine],
  ['wpa_passphrase ', String.raw`wpa_passphrase \S{1,60} ["']?`, String.raw`\S{0,60}(?: ["']?\S{0,201})?`],
  ['rdp ', String.raw`rdp [^\n|;]{0,160}?/p:["']?`, onLine],
  ['SecureString ', String.raw`SecureString (?:-String )?["']`, String.raw`(?:-String )?["']?\S{0,201}`],
  ['authtoken ', 'authtoken ', String.raw`\S{0,201}`],
  ['wifi-sec.psk ', String.raw`wifi-sec\.psk ["']?`, String.raw`["']?\S{0,201}`],
  // The code that a telephone scans to join a network.
  ['WIFI:', String.raw`WIFI:(?:[STH]:[^;\n]{0,64};){0,3}P:`, onLine],
  ['requirepass ', String.raw`requirepass ["']?`, String.raw`["']?\S{0,201}`],
  ['-storepass ', String.raw`-storepass ["']?`, String.raw`["']?\S{0,201}`],
  // In a Dockerfile.
  ['ENV ', String.raw`(?<![^\n])ENV \w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD)\w{0,20} ["']?`, String.raw`\w{0,70}(?: ["']?\S{0,201})?`],
  ['setx ', String.raw`setx \w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD)\w{0,20} ["']?`, String.raw`\w{0,70}(?: ["']?\S{0,201})?`],
];

function flagRules(): PatternRule[] {
  return flags.map(([trigger, before, reach]) => ({
    name: 'secret',
    triggers: [trigger],
    pattern: new RegExp(String.raw`${before}([^\s"'\x60$<>|;&(){}]{6,200})`, 'y'),
    reach: new RegExp(escapeRegExp(trigger) + reach, 'y'),
    rank: rankOfPlace,
    accept: (secret) => /[A-Za-z]/.test(secret) && (/[^A-Za-z]/.test(secret) || isJumble(secret)) && !/^[/.*[\\-]|^\*+$|x{5}/.test(secret),
  }));
}

/** The words that restore a wallet. */
function phraseRule(): PatternRule {
  const names = ['mnemonic', 'seed phrase', 'seed_phrase', 'recovery phrase', 'recovery_phrase'];
  return {
    name: 'recovery-phrase',
    triggers: names.flatMap((name) => [name, name.toUpperCase(), name.charAt(0).toUpperCase() + name.slice(1)]),
    pattern: /(?:mnemonic|(?:seed|recovery)[ _]phrase)["']?\s{0,3}[:=]\s{0,3}["']?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})/iy,
    reach: /(?:mnemonic|(?:seed|recovery)[ _]phrase)["']?\s{0,3}[:=]?\s{0,3}["']?(?:[a-z]{0,8}[ ,]{0,2}){0,24}/iy,
    rank: rankOfPlace,
  };
}
