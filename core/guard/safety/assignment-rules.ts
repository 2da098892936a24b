// Detects secrets by their names: `DB_PASSWORD=…`, `"apiKey": "…"`, `<password>…</password>`, `- name: TOKEN` with its value, "the password
// is …". Values are judged by form and entropy, because most such values in code and prose are not secrets.

import { entropy, hasDigit, hasEveryKind, isJumble, rankOfGeneric, rankOfPlace, uuid, type PatternRule } from './pattern-rule.ts';

const words = ['password', 'passwd', 'passphrase', 'passwort', 'kennwort', 'pwd', 'secret', 'token', 'credential', 'psk'];
const pairs = 'api access private account signing encryption master app auth write shared preshared subscription license service admin'
  .split(' ')
  .map((first) => [first, 'key'] as const);

const separators = [
  String.raw`[\\"'\]]{0,3}\s{0,4}(?:=>|:=|[:=])\s{0,4}`,
  // A command-line flag, and an XML element.
  String.raw`(?<=--[A-Za-z0-9_-]{1,60})\s{1,3}`,
  String.raw`(?<=<[\w:.-]{1,60})>\s{0,4}`,
  // A name, followed by its value under a separate key.
  String.raw`[\\"']{0,3}[\s,]{1,40}[\\"']{0,3}value[\\"']{0,3}\s{0,2}[:=]\s{0,3}`,
  // The next cell of a table.
  String.raw`(?<=\n\s{0,4}\|[^\n|]{0,60})\s{1,20}\|\s{1,4}`,
].join('|');

/** Matches every prefix of a separator, so that a stream waits for the rest. */
const separatorReach = String.raw`(?:[\\"'\]]{0,3}\s{0,4}[:=>]{0,2}\s{0,4}|>\s{0,4}|[\\"']{0,3}[\s,]{1,40}[\\"']{0,3}[value]{0,5}[\\"']{0,3}\s{0,2}[:=]?\s{0,3}|\s{1,20}\|?\s{0,4})`;

const valueLetter = String.raw`[^\s"'\`,;<>(){}\[\]\\&|]`;
const suffix = String.raw`(?:key|value|\d{1,3})?(?:[_-][A-Za-z0-9]{1,20}){0,3}`;

/** Keys that describe a secret without being one: token_type, password_file, secret-name. */
const unsecret = String.raw`(?<=[_-](?:name|type|ur[il]|file|path|dir|count|limit|max|min|expires?|expiry|ttl|hint|field|policy|length|size|arn|ref|version|id|prefix|header|env|budget|usage|hash|sha\d*|md5|digest|checksum|fingerprint|at|in))[\\"'\]]{0,3}\s{0,4}[:=]`;

export function createAssignmentRules(): PatternRule[] {
  const anyKey = [...words, ...pairs.map((pair) => pair.join('[ _-]?'))].join('|');
  return [
    assignmentRule(keyTriggers(), anyKey, 'i', isSecretValue),
    // `pass` alone is part of many words, and `auth` is part of many settings.
    assignmentRule(
      ['pass', 'Pass', 'PASS'],
      String.raw`(?:(?<![A-Za-z])|(?<=db|smtp|mail|redis|ftp))pass(?![A-Za-z_-])`,
      'i',
      isPlainSecret,
    ),
    assignmentRule(['_AUTH', '_auth', '_SALT', '_salt', '_PAT'], String.raw`_(?:auth|salt|pat)(?![A-Za-z_-])`, 'i', isSecretValue),
    digestRule(),
    proseRule(),
  ];
}

function assignmentRule(
  triggers: readonly string[],
  key: string,
  flags: string,
  accept: (value: string, next: string) => boolean,
): PatternRule {
  return {
    name: 'secret',
    triggers,
    pattern: new RegExp(
      String.raw`(?!(?:${key})${suffix}${unsecret})(?:${key})${suffix}(?:${separators})\\?["'\`]?(${valueLetter}{8,400})`,
      `${flags}y`,
    ),
    reach: new RegExp(String.raw`[\w-]{0,100}(?: [Kk]?[Ee]?[Yy]?)?${separatorReach}\\?["'\`]?${valueLetter}{0,401}`, 'iy'),
    rank: rankOfGeneric,
    accept,
  };
}

/** Digests and UUIDs are often called tokens and keys without being secret. These names leave no doubt. */
function digestRule(): PatternRule {
  const sure = ['password', 'passwd', 'passphrase', 'secret'];
  const keys = pairs.filter(([first]) => first !== 'shared' && first !== 'service');
  const owners = ['access', 'auth', 'refresh', 'session', 'bot', 'api', 'private', 'deploy'];
  const tokens = owners.flatMap((owner) => pairCasings([owner, 'token'])).filter((form) => !form.includes(' '));
  const triggers = [...new Set([...sure.flatMap(casings), ...keys.flatMap(pairCasings), ...tokens, '_TOKEN'])];
  // The trigger has already checked the capitals, so the pattern need not list each form. Listing them takes four times as long to compile.
  const key = [...sure, `(?:${keys.map(([first]) => first).join('|')})[ _-]?key`, `(?:${owners.join('|')})[_-]?token`, '_token'].join('|');
  return assignmentRule(triggers, key, 'i', (value) => isDigest(value));
}

/** Matches "The password is …" and "password for ada: …". */
function proseRule(): PatternRule {
  const key = 'password|passphrase|passwort|kennwort|secret|token|api[ _-]?key';
  return {
    name: 'secret',
    triggers: [...['password', 'passphrase', 'passwort', 'kennwort', 'secret', 'token'].flatMap(casings), ...pairCasings(['api', 'key'])],
    pattern: new RegExp(
      String.raw`(?:${key})(?:\s(?:is|ist|lautet):?|\s(?:for|of|f\xfcr)\s[\w.@-]{1,40}(?:\sis|:))\s{1,3}["'\`*]{0,2}(${valueLetter}{8,200})`,
      'iy',
    ),
    reach: new RegExp(
      String.raw`(?:${key})(?:\s[a-z]{0,6}:?|\s(?:for|of|f\xfcr)\s[\w.@-]{0,40}(?:\s?i?s?|:))(?:\s{1,3}["'\`*]{0,2}(?<=(?:is|ist|lautet|:)\s{1,3}["'\`*]{0,2})${valueLetter}{0,201})?`,
      'iy',
    ),
    rank: rankOfPlace,
    accept: (value) =>
      (hasEveryKind(value) || isJumble(value)) && !namesMethod.test(value) && isSecretValue(value.replace(/[.!?:]+$/, ''), ''),
  };
}

/** Test results are called `pass` as well and are followed by words, so the value must contain a digit or look random. */
function isPlainSecret(value: string, next: string): boolean {
  return (hasDigit(value) || isJumble(value)) && isSecretValue(value, next);
}

/** Names of methods and formats, which prose mentions next to these keys as often as real secrets. */
const namesMethod =
  /base\d\d|sha-?\d|utf-?\d|oauth|md5|x\.?509|ed25519|argon2|bcrypt|rsa|aes|hs\d{3}|rs\d{3}|^v\d|https?|\$|token|password|key/i;

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const casings = (word: string): string[] => [word, word.toUpperCase(), capital(word)];

/** Returns both words joined by each separator in lower case, upper case, capitalized and mixed forms, and in camel case. */
function pairCasings([first, second]: readonly [string, string]): string[] {
  const joined = ['', '_', '-', ' '].flatMap((by) =>
    [
      [first, second],
      [first.toUpperCase(), second.toUpperCase()],
      [capital(first), capital(second)],
      [capital(first), second],
      [first.toUpperCase(), capital(second)],
      [first.toUpperCase(), second],
    ].map((both) => both.join(by)),
  );
  return [...joined, first + capital(second)];
}

function keyTriggers(): string[] {
  return [...new Set([...words.flatMap(casings), ...pairs.flatMap(pairCasings)])];
}

/** Returns whether a person would hardly write this value for another purpose. */
function isSecretValue(value: string, next: string): boolean {
  if (next === '(' || !/[A-Za-z]/.test(value) || isHash(value) || isReference(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
  if (!hasDigit(value)) return (kinds === 3 && value.length >= 12 && entropy(value) >= 3.5) || isJumble(value);
  return entropy(value.slice(0, 100)) >= (value.length >= 16 ? 3 : 2.5);
}

const isHash = (value: string): boolean => isDigest(value) || /^sha(?:1|256|384|512)[-:]/.test(value);

function isDigest(value: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(value) || uuid.test(value);
}

/** Returns whether the value refers to a secret: a variable, a path, a URL, a call or a placeholder. */
function isReference(value: string): boolean {
  return (
    /^(?:\$|%[A-Za-z_]+%|@|#|env[:.]|file:|keychain:|vault:|op:|arn:|process\.|os\.)/i.test(value) ||
    /:\/\//.test(value) ||
    (/^(?:\.{0,2}|~)\/[\w.-]*(?:\/|\.\w+$)/.test(value) && !isRandomName(value)) ||
    (/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/.test(value) && !value.split('.').some(isRandomName)) ||
    /(?:\*{3}|x{5}|\.{3}|your[_-]|placeholder|change-?me)/i.test(value)
  );
}

/** Returns whether a name is longer and has more digits than names that people choose. */
function isRandomName(name: string): boolean {
  return name.length >= 16 && hasEveryKind(name) && /\d.*\d/.test(name) && entropy(name) >= 4;
}
