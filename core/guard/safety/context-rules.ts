// Detects secrets by their surroundings: private key blocks, authorization headers, cookies, passwords in URLs, assignments. Values in
// assignments are judged by form and entropy, because most of them in code and prose are not secrets.

import { entropy, hasDigit, looksRandom, rankOfGeneric, rankOfProvider, type PatternRule } from './pattern-rule.ts';

const keyLabel = '(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----';
// A truncated block is redacted as far as it looks like one.
const keyBody = String.raw`(?:(?:\s|\\[nrt"])*[A-Za-z0-9+/=]{16,})+`;
const netrcGap = String.raw`(?:\s|\\[nrt]){1,8}`;

export function createContextRules(): PatternRule[] {
  return [...createBlockRules(), ...createHeaderRules(), ...createSettingRules(), assignmentRule()];
}

function createBlockRules(): PatternRule[] {
  return [
    {
      name: 'private-key',
      triggers: ['-----BEGIN '],
      pattern: new RegExp(String.raw`-----BEGIN ${keyLabel}(?:(?:(?!-----)[\s\S]){0,20000}-----END ${keyLabel}|${keyBody})`, 'y'),
      // Open until its end line, as long as that line could still arrive.
      reach: /-----BEGIN [A-Z0-9 -]*(?:(?!-----END)[\s\S]){0,20000}(?:-----END(?: [A-Z0-9 ]{0,60}-{0,4})?)?/y,
      rank: rankOfProvider,
    },
    {
      // PuTTY: the key is the lines after Private-Lines, as many as there are.
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
      accept: (secret) => /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(secret, 'base64').toString('latin1')),
    },
    {
      name: 'cookie',
      triggers: ['Cookie:', 'cookie:'],
      // Not inside a cookie already found: a run of such beginnings would be reread for each.
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
  ];
}

function createSettingRules(): PatternRule[] {
  return [
    {
      name: 'aws-secret-key',
      triggers: ['secret_access_key', 'SECRET_ACCESS_KEY', 'SecretAccessKey', 'secretAccessKey', 'secret-access-key', 'aws_secret_key'],
      pattern: /[\w-]{10,20}[\\"'\]]{0,3}\s{0,4}(?:=>|:=|[:=])\s{0,4}\\?["'`]?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/y,
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
      triggers: ['login ', 'login\t'],
      pattern: new RegExp(
        String.raw`login${netrcGap}[^\s\\]{1,200}${netrcGap}(?:account${netrcGap}[^\s\\]{1,200}${netrcGap})?password${netrcGap}([^\s"\\]{4,200})`,
        'y',
      ),
      reach: new RegExp(String.raw`login(?:${netrcGap}[^\s\\]{0,200}){0,6}`, 'y'),
      rank: rankOfGeneric,
      // Prose about logins: "login form and password reset".
      accept: (secret, next) => !/^[a-z]+[,.;:]?$/i.test(secret) && next !== '(',
    },
    {
      // Heroku keys were UUIDs for a long time, which are secrets only next to its name.
      name: 'heroku-key',
      triggers: ['heroku', 'HEROKU', 'Heroku'],
      pattern: /heroku[\w-]{0,30}["']?\s{0,3}(?:=>|[:=])\s{0,3}["']?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/iy,
      reach: /heroku[\w-]{0,30}["']?\s{0,3}[:=>]{0,2}\s{0,3}["']?[0-9a-f-]{0,36}/iy,
      rank: rankOfProvider,
    },
  ];
}

const keyWords = ['password', 'passwd', 'passphrase', 'pwd', 'secret', 'token', 'credential'];
const keyPairs = ['api key', 'access key', 'private key', 'account key', 'signing key', 'encryption key'];

function assignmentRule(): PatternRule {
  const key = String.raw`(?:${[...keyWords, ...keyPairs.map((pair) => pair.replace(' ', '[_-]?'))].join('|')})`;
  const suffix = String.raw`(?:key|value|\d{1,3})?(?:[_-][A-Za-z0-9]{1,20}){0,3}`;
  const separator = String.raw`(?:[\\"'\]]{0,3}\s{0,4}(?:=>|:=|[:=])\s{0,4}|(?<=--[A-Za-z0-9_-]{1,60})\s{1,3})`;
  const value = String.raw`[^\s"'\`,;<>(){}\[\]\\&|]`;
  return {
    name: 'secret',
    triggers: assignmentTriggers(),
    pattern: new RegExp(String.raw`(?!${key}${suffix}${unsecret})${key}${suffix}${separator}\\?["'\`]?(${value}{8,400})`, 'iy'),
    reach: new RegExp(String.raw`[\w-]{0,100}[\\"'\]]{0,3}\s{0,4}[:=>]{0,2}\s{0,4}\\?["'\`]?${value}{0,401}`, 'iy'),
    rank: rankOfGeneric,
    accept: isSecretValue,
  };
}

/** Keys that describe a secret without being one: token_type, password_file, secret-name. */
const unsecret = String.raw`(?<=[_-](?:name|type|ur[il]|file|path|dir|count|limit|max|min|expires?|expiry|ttl|hint|field|policy|length|size|arn|ref|version|id|prefix|header|env|budget|usage|hash|at|in))[\\"'\]]{0,3}\s{0,4}[:=]`;

/** The words as one, with either hyphen between two: lower case, upper case, capitalized, and camel case. */
function assignmentTriggers(): string[] {
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  return [...keyWords, ...keyPairs].flatMap((words) => {
    const [first = '', second = ''] = words.split(' ');
    const joints = second === '' ? [''] : ['', '_', '-'];
    const cased = joints.flatMap((by) => [first + by + second, (first + by + second).toUpperCase(), capital(first) + by + capital(second)]);
    return second === '' ? cased : [...cased, first + capital(second)];
  });
}

/** True for a value that a person would not write by hand for another purpose. */
function isSecretValue(value: string, next: string): boolean {
  if (next === '(' || !/[A-Za-z]/.test(value) || isHash(value) || isReference(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
  if (!hasDigit(value)) return kinds === 3 && value.length >= 12 && entropy(value) >= 3.5;
  return entropy(value.slice(0, 100)) >= (value.length >= 16 ? 3 : 2.5);
}

/** Digests and UUIDs are called tokens and keys too often for the name alone to decide. */
function isHash(value: string): boolean {
  return (
    /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(value) ||
    /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ||
    /^sha(?:1|256|384|512)[-:]/.test(value)
  );
}

/** A reference to a secret: a variable, a path, a URL, a call, a placeholder. */
function isReference(value: string): boolean {
  return (
    /^(?:\$|%[A-Za-z_]+%|@|#|env[:.]|file:|keychain:|vault:|op:|arn:|process\.|os\.)/i.test(value) ||
    /:\/\//.test(value) ||
    /^(?:\.{0,2}|~)\/[\w.-]*(?:\/|\.\w+$)/.test(value) ||
    /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/.test(value) ||
    /(?:\*{3}|x{5}|\.{3}|your[_-]|placeholder|change-?me)/i.test(value)
  );
}
