// Detects secrets by their context: private key blocks, authorization headers, cookies, passwords in URLs, and the settings files of
// well-known programs.

import { createAssignmentRules } from './assignment-rules.ts';
import { createCommandRules } from './command-rules.ts';
import { createPlaceRules } from './place-rules.ts';
import { hasEveryKind, isJumble, looksRandom, rankOfGeneric, rankOfProvider, type PatternRule } from './pattern-rule.ts';

const keyLabel = '(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----';
// A truncated block is redacted as far as it looks like key data.
const keyBody = String.raw`(?:(?:\s|\\[nrt"])*[A-Za-z0-9+/=]{16,})+`;
const opensshStart = 'b3BlbnNzaC1rZXktdjE';
// The next key is a separate match: if each match took all that follow, many keys would be read in the square of their number.
const opensshLetter = `(?:(?!${opensshStart})[A-Za-z0-9+/=])`;
const netrcGap = String.raw`(?:\s|\\[nrt]){1,8}`;

export function createContextRules(): PatternRule[] {
  const bySign = [...createBlockRules(), ...createHeaderRules(), ...createSettingRules()];
  return [...bySign, ...createAssignmentRules(), ...createPlaceRules(), ...createCommandRules()];
}

function createBlockRules(): PatternRule[] {
  return [
    {
      name: 'private-key',
      triggers: ['-----BEGIN '],
      pattern: new RegExp(String.raw`-----BEGIN ${keyLabel}(?:(?:(?!-----)[\s\S]){0,20000}-----END ${keyLabel}|${keyBody})`, 'y'),
      // Stays open until the end line, as long as that line may still arrive.
      reach: /-----BEGIN [A-Z0-9 -]*(?:(?!-----END)[\s\S]){0,20000}(?:-----END(?: [A-Z0-9 ]{0,60}-{0,4})?)?/y,
      rank: rankOfProvider,
    },
    {
      name: 'private-key',
      triggers: ['---- BEGIN SSH2 ENCRYPTED', '-----BEGIN OpenVPN Static key'],
      pattern:
        /-{4,5} ?BEGIN (?:SSH2 ENCRYPTED PRIVATE KEY|OpenVPN Static key V1) ?-{4,5}(?:(?!----)[\s\S]){16,20000}(?:-{4,5} ?END [A-Za-z0-9 ]{1,40}-{4,5})?/y,
      reach: /-{4,5} ?BEGIN [A-Za-z0-9 -]*(?:(?!----)[\s\S]){0,20000}(?:-{1,5} ?(?:END[A-Za-z0-9 ]{0,41}-{0,5})?)?/y,
      rank: rankOfProvider,
    },
    {
      // The body of an OpenSSH key begins so, also without its frame.
      name: 'private-key',
      triggers: [opensshStart],
      pattern: new RegExp(String.raw`${opensshStart}${opensshLetter}{20,}(?:(?:\s|\\[nrt"])*${opensshLetter}{16,})*`, 'y'),
      reach: new RegExp(String.raw`${opensshStart}(?:\s|\\[nrt"]|${opensshLetter})*\\?`, 'y'),
      rank: rankOfProvider,
    },
    {
      // The private parts of a JSON web key (RFC 7518).
      name: 'private-key',
      triggers: ['"d"', '"p"', '"q"', '"dp"', '"dq"', '"qi"', '"k"'],
      pattern: /"(?:d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4}"([A-Za-z0-9_-]{42,1400})(?=")/y,
      reach: /"[a-z]{1,2}"\s{0,4}:?\s{0,4}"?[A-Za-z0-9_-]{0,1401}/y,
      rank: rankOfProvider,
      accept: hasEveryKind,
    },
    {
      // PuTTY: the key consists of the lines after Private-Lines.
      name: 'private-key',
      triggers: ['Private-Lines:'],
      pattern: /Private-Lines: {0,2}\d{1,3}((?:(?:\\r)?(?:\\n)|\s){1,4}(?:[A-Za-z0-9+/=]{4,80}(?:(?:\\r)?\\n|\s){0,4}){1,60})/y,
      reach: /Private-Lines: {0,2}\d{0,3}(?:\\[rn]?|\s|[A-Za-z0-9+/=]){0,6000}/y,
      rank: rankOfProvider,
    },
  ];
}

function createHeaderRules(): PatternRule[] {
  return [
    {
      name: 'bearer-token',
      triggers: ['Bearer', 'bearer', 'BEARER'],
      pattern: /bearer(?:\s|%20){1,4}["']?([A-Za-z0-9._~+/=-]{16,4000})/iy,
      reach: /[a-z]*[\s%20]*["']?[A-Za-z0-9._~+/=%-]*/iy,
      rank: rankOfGeneric,
      accept: (secret) => looksRandom(secret) && !/^[\d.]+$/.test(secret),
    },
    {
      name: 'basic-credentials',
      triggers: ['Basic ', 'basic '],
      pattern: /basic ([A-Za-z0-9+/]{8,2000}={0,2})/iy,
      reach: /basic ?[A-Za-z0-9+/=]*/iy,
      rank: rankOfGeneric,
      accept: isUserAndPassword,
    },
    {
      name: 'cookie',
      triggers: ['Cookie:', 'cookie:'],
      // Does not match inside a cookie that was already found. Otherwise a run of such prefixes would be read again for each of them.
      pattern: /(?<![;=.:])cookie:\s{0,3}([A-Za-z0-9_.-]{1,100}=[^\r\n"'\\]{8,4000})/iy,
      reach: /cookie:\s*[^\r\n"'\\]{0,4100}/iy,
      rank: rankOfGeneric,
      accept: (secret) => looksRandom(secret),
    },
    {
      name: 'url-password',
      triggers: ['://'],
      pattern: /:\/\/[^\s/:@"'<>[\]{}]{0,100}:([^\s/@"'<>[\]{}$]{3,200})(?=@)/y,
      reach: /:\/\/[^\s/@"'<>]{0,301}/y,
      rank: rankOfGeneric,
      accept: (secret) => !/^(?:\*+|x+|pass(?:word)?|pw|secret)$/i.test(secret),
    },
    {
      // The same as Go writes it, without a scheme.
      name: 'url-password',
      triggers: ['@tcp(', '@unix('],
      before: /:[^\s:/@"'<>]{3,70}$/,
      pattern: /:([^\s:/@"'<>]{3,70})(?=@(?:tcp|unix)\()/y,
      reach: /@[a-z(]{0,5}/y,
      rank: rankOfGeneric,
    },
  ];
}

/** https://www.postgresql.org/docs/current/libpq-pgpass.html */
function createPgpassRules(): PatternRule[] {
  const shared = {
    name: 'pgpass-password',
    triggers: ['5432', '5433', '5434', '6432', '6543', '15432', '25060', '25061', '26257'].map((port) => `:${port}:`).concat(':*:*:'),
    reach: /:(?:\d{4,5}|\*):[\w.*-]{0,100}:?[\w.@-]{0,100}:?[^\s:"'\\/]{0,201}/y,
    rank: rankOfGeneric,
  };
  return [
    {
      ...shared,
      pattern: /:(?:\d{4,5}|\*):[\w.*-]{1,100}:(?:[\w.@-]{1,100}:)?([^\s:"'\\/]{6,200})(?=$|[\s"'\\])/y,
      accept: (secret) => /[A-Za-z]/.test(secret) && looksRandom(secret),
    },
    {
      // All five fields: the last can be nothing else.
      ...shared,
      pattern: /:(?:\d{4,5}|\*):[\w.*-]{1,100}:[\w.@-]{1,100}:([^\s:"'\\/]{6,200})(?=$|[\s"'\\])/y,
      accept: (secret) => /[A-Za-z]/.test(secret) && /[^A-Za-z]/.test(secret),
    },
  ];
}

function createSettingRules(): PatternRule[] {
  return [
    {
      // In a connection text of ODBC, braces hold a value with signs.
      name: 'secret',
      triggers: ['PWD={', 'Pwd={', 'pwd={', 'Password={', 'PASSWORD={', 'password={'],
      before: /;\s{0,2}$/,
      pattern: /;\s{0,2}(?:pwd|password)=\{([^{}\r\n]{6,200})(?=\})/iy,
      reach: /(?:pwd|password)=\{[^{}\r\n]{0,201}/iy,
      rank: rankOfGeneric,
    },
    {
      name: 'aws-secret-key',
      triggers: ['secret_access_key', 'SECRET_ACCESS_KEY', 'SecretAccessKey', 'secretAccessKey', 'secret-access-key', 'aws_secret_key'],
      pattern: /[\w-]{10,20}[\\"'\]]{0,3}\s{0,4}(?:=>|:=|[:=]|\s)\s{0,4}\\?["'`]?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/y,
      reach: /[\w-]*[\\"'\]]{0,3}\s{0,4}[:=>]{0,2}\s{0,4}\\?["'`]?[A-Za-z0-9/+]*/y,
      rank: rankOfProvider,
    },
    {
      // The tokens in npm's own file are not always random: old ones are UUIDs, and _auth is base64 of user and password.
      name: 'npm-token',
      triggers: ['_authToken', '_auth', '_password'],
      pattern: /_(?:authToken|auth|password)\s{0,3}=\s{0,3}["']?([A-Za-z0-9_+/=.-]{8,400})/y,
      reach: /_[A-Za-z]{0,10}\s{0,3}=?\s{0,3}["']?[A-Za-z0-9_+/=.-]{0,400}/y,
      rank: rankOfGeneric,
      accept: (secret) => !/^(?:true|false|legacy)$/.test(secret),
    },
    {
      // https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html
      name: 'netrc-password',
      triggers: ['login ', 'login\t', 'login\n'],
      pattern: new RegExp(
        String.raw`login${netrcGap}[^\s\\]{1,200}${netrcGap}(?:account${netrcGap}[^\s\\]{1,200}${netrcGap})?password${netrcGap}([^\s"\\]{4,200})`,
        'y',
      ),
      reach: new RegExp(String.raw`login(?:${netrcGap}[^\s\\]{0,200}){0,6}`, 'y'),
      rank: rankOfGeneric,
      // Excludes prose about logins, such as "login form and password reset".
      accept: (secret, next) => (!/^[a-z]+[,.;:]?$/i.test(secret) || isJumble(secret)) && next !== '(',
    },
    {
      // The same with the password first, which netrc allows.
      name: 'netrc-password',
      triggers: ['machine ', 'machine\t'],
      pattern: new RegExp(
        String.raw`machine${netrcGap}[^\s\\]{1,200}${netrcGap}password${netrcGap}([^\s"\\]{4,200})(?=${netrcGap}login)`,
        'y',
      ),
      reach: new RegExp(
        String.raw`machine${netrcGap}[^\s\\]{0,200}(?:${netrcGap}(?:p[a-z]{0,7}(?:${netrcGap}[^\s"\\]{0,200}(?:${netrcGap}[login]{0,5})?)?)?)?`,
        'y',
      ),
      rank: rankOfGeneric,
    },
    ...createPgpassRules(),
    {
      // Docker's settings contain user and password in base64.
      name: 'basic-credentials',
      triggers: ['"auth"'],
      pattern: /"auth"\s{0,4}:\s{0,4}"([A-Za-z0-9+/]{8,2000}={0,2})(?=")/y,
      reach: /"auth"\s{0,4}:?\s{0,4}"?[A-Za-z0-9+/=]{0,2003}/y,
      rank: rankOfGeneric,
      accept: isUserAndPassword,
    },
    {
      // Heroku keys were UUIDs for a long time. A UUID is a secret only next to Heroku's name.
      name: 'heroku-key',
      triggers: ['heroku', 'HEROKU', 'Heroku'],
      pattern: /heroku[\w-]{0,30}["']?\s{0,3}(?:=>|[:=])\s{0,3}["']?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/iy,
      reach: /heroku[\w-]{0,30}["']?\s{0,3}[:=>]{0,2}\s{0,3}["']?[0-9a-f-]{0,36}/iy,
      rank: rankOfProvider,
    },
  ];
}

/** Expects base64. */
function isUserAndPassword(secret: string): boolean {
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(secret, 'base64').toString('latin1'));
}
