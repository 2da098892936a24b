// Detects secrets by their names: `DB_PASSWORD=…`, `"apiKey": "…"`, `<password>…</password>`, `- name: TOKEN` with its value, "the password
// is …". Values are judged by form and entropy, because most such values in code and prose are not secrets.

import {
  entropy,
  hasDigit,
  hasEveryKind,
  isJumble,
  looksDense,
  rankOfGeneric,
  rankOfPlace,
  uuid,
  type PatternRule,
} from './pattern-rule.ts';

/** These words mean a password in several languages. */
const passwords = 'password passwd passphrase passcode passwort kennwort contraseña senha wachtwoord hasło parola lösenord heslo пароль'
  .split(' ')
  .concat('mot de passe', 'パスワード', '비밀번호');
const words = [...passwords, 'pwd', 'secret', 'token', 'credential', 'psk'];
const pairs =
  'api access private account signing encryption master app auth write shared preshared subscription license service admin application'
    .split(' ')
    .map((first) => [first, 'key'] as const);

const separators = [
  // Also in bold, and above a block of YAML.
  String.raw`[\\"'\]*]{0,4}\s{0,12}(?:=>|:=|[:=\uff1a\u2192]|->)\*{0,2}\s{0,12}(?:[|>][+-]?\n\s{0,12})?`,
  // A command-line flag, and an XML element.
  String.raw`(?<=--[A-Za-z0-9_-]{1,60})\s{1,3}`,
  String.raw`(?<=<[\w:.-]{1,60})>\s{0,4}`,
  // The next cell or element, and the value of a field in a form.
  String.raw`</\w{1,12}>\s{0,20}<\w{1,12}(?: [^<>]{0,60})?>\s{0,4}`,
  String.raw`["'] (?:[\w-]{1,20}=["'][^"'<>]{0,40}["'] ){0,3}value=`,
  // A name, followed by its value under a separate key.
  String.raw`[\\"']{0,3}[\s,]{1,40}[\\"']{0,3}value[\\"']{0,3}\s{0,2}[:=]\s{0,3}`,
  // The next cell of a table.
  String.raw`(?<=\n\s{0,4}\|[^\n|]{0,60})\s{1,20}\|\s{1,4}`,
].join('|');

/** Matches every prefix of a separator, so that a stream waits for the rest. */
const separatorReach = String.raw`(?:[\\"'\]*]{0,4}\s{0,12}[:=>\uff1a\u2192-]{0,2}\*{0,2}\s{0,12}(?:[|>][+-]?\s{0,13})?|>\s{0,4}|</?\w{0,12}>?\s{0,20}(?:<\w{0,12}(?: [^<>]{0,60})?>?\s{0,4})?|["'] (?:[\w-]{1,20}=["'][^"'<>]{0,40}["'] ){0,3}(?:[\w-]{0,20}=?|[\w-]{1,20}=["'][^"'<>]{0,40}["']?)|[\\"']{0,3}[\s,]{1,40}[\\"']{0,3}[value]{0,5}[\\"']{0,3}\s{0,2}[:=]?\s{0,3}|\s{1,20}\|?\s{0,4})`;

const valueLetter = String.raw`[^\s"'\`,;<>(){}\[\]\\&|]`;
/** With ampersands, unless the next parameter of an address or the next command follows. At least `min` characters. */
const valueText = (min: number, max: number): string =>
  String.raw`(?=(?:${valueLetter}|&){${min}})${valueLetter}{1,${max}}(?:&(?!&|[\w.%-]{1,40}=)${valueLetter}{1,50}){0,4}`;
/** As long as such a text of at most `max` characters before its first ampersand. */
const valueReach = (max: number): string => `(?:${valueLetter}|&){0,${max + 205}}`;
const suffix = String.raw`(?:key|value|\d{1,3})?(?:[_-][A-Za-z0-9]{1,20}){0,3}`;

/** Keys that describe a secret without being one: token_type, password_file, secret-name. */
const unsecret = String.raw`(?<=[_-](?:name|type|ur[il]|file|path|dir|count|limit|max|min|expires?|expiry|ttl|hint|field|policy|length|size|arn|ref|version|id|prefix|header|env|budget|usage|hash|sha\d*|md5|digest|checksum|fingerprint|algorithm|at|in))[\\"'\]]{0,3}\s{0,4}[:=]`;

/** All before a value: its key, the separator and a quote, which a question mark behind it makes optional. */
const assigned = (key: string): string => String.raw`(?!(?:${key})${suffix}${unsecret})(?:${key})${suffix}(?:${separators})\\?["'\`]`;

export function createAssignmentRules(): PatternRule[] {
  const anyKey = [...words, ...pairs.map((pair) => pair.join('[ _-]?'))].join('|');
  return [
    { ...assignmentRule(keyTriggers(), anyKey, 'i', isSecretValue), mayHeadColumn: true },
    // `pass` alone is part of many words, and `auth` is part of many settings.
    assignmentRule(
      ['pass', 'Pass', 'PASS'],
      String.raw`(?:(?<![A-Za-z])|(?<=db|smtp|mail|redis|ftp|store))pass(?![A-Za-z_-])`,
      'i',
      isPlainSecret,
    ),
    assignmentRule(['_AUTH', '_auth', '_SALT', '_salt', '_PAT'], String.raw`_(?:auth|salt|pat)(?![A-Za-z_-])`, 'i', isSecretValue),
    assignmentRule(['pw:', 'pw=', 'PW:', 'PW=', 'Pw:'], '(?:(?<![A-Za-z0-9])|(?<=bind|root))pw', 'i', isPlainSecret),
    assignmentRule(['密码:', '密码：', '密碼:', '密碼：'], '密[码碼]', '', isSecretValue),
    // Clouds of Asia call the secret key `sk`, next to an `ak` that is public.
    assignmentRule(
      secretKeyTriggers,
      '(?<![A-Za-z0-9?&-])(?:sk|SK)',
      '',
      (value, next) => value.length >= 20 && isSecretValue(value, next),
    ),
    assignmentRule(['BW_SESSION', '--session'], 'BW_SESSION|--session', '', (value) => value.length >= 80 && hasEveryKind(value)),
    { ...assignmentRule(['totp', 'Totp', 'TOTP'], 'totp', 'i', (value) => /^[A-Z2-7]{16,128}=*$/.test(value)), mayHeadColumn: true },
    digestRule(),
    proseRule(),
    environmentRule(),
    quotedRule(),
    shortRule(),
    keyRule(),
  ];
}

const secretKeyTriggers = ['sk', 'SK'].flatMap((name) => [':', '=', ' =', ' :', '"', "'", '\\"'].map((end) => name + end));

function assignmentRule(
  triggers: readonly string[],
  key: string,
  flags: string,
  accept: (value: string, next: string) => boolean,
): PatternRule {
  return {
    name: 'secret',
    triggers,
    pattern: new RegExp(String.raw`${assigned(key)}?(${valueText(8, 400)})`, `${flags}y`),
    reach: new RegExp(String.raw`[\w-]{0,100}(?: [Kk]?[Ee]?[Yy]?)?${separatorReach}\\?["'\`]?${valueReach(400)}`, 'iy'),
    rank: rankOfGeneric,
    accept,
  };
}

/** Digests and UUIDs are often called tokens and keys without being secret. These names leave no doubt. */
function digestRule(): PatternRule {
  const sure = ['password', 'passwd', 'passphrase', 'secret'];
  const keys = pairs.filter(([first]) => first !== 'shared' && first !== 'service');
  const owners = ['access', 'auth', 'refresh', 'session', 'bot', 'api', 'private', 'deploy', 'server'];
  const tokens = owners.flatMap((owner) => pairCasings([owner, 'token'])).filter((form) => !form.includes(' '));
  const triggers = [...new Set([...sure.flatMap(casings), ...keys.flatMap(pairCasings), ...tokens, '_TOKEN'])];
  // The trigger has already checked the capitals, so the pattern need not list each form. Listing them takes four times as long to compile.
  const key = [...sure, `(?:${keys.map(([first]) => first).join('|')})[ _-]?key`, `(?:${owners.join('|')})[_-]?token`, '_token'].join('|');
  return assignmentRule(triggers, key, 'i', (value) => isDigest(value));
}

/**
 * Matches "The password is …" and "password for ada: …", and a value in quotes, in brackets, in the next column or behind a dash:
 * `.password("…")`, `the password "…"`, `password - …`. The words found there are rarely secret.
 */
function proseRule(): PatternRule {
  const key = `${passwords.join('|')}|secret|token|api[ _-]?key`;
  const verb = 'is|ist|lautet|est|es|è|é';
  const said = String.raw`(?:\s(?:${verb}):?|\s(?:for|of|f\xfcr)\s[\w.@-]{1,40}(?:\sis|:))\s{1,3}["'\`*]{0,2}`;
  const close = String.raw`["']?\s{0,2}[,(]\s{0,2}\\?["']|\s{1,2}["'\`(]|\s[\u2013\u2014-]\s{1,2}|[ \t]{2,20}|\t|"(?:\r?\n){2}|\n\n`;
  const reaches = [
    String.raw`\s[a-z]{0,6}:?|\s(?:for|of|f\xfcr)\s[\w.@-]{0,40}(?:\s?i?s?|:)`,
    String.raw`["']?\s{0,2}[,(]?\s{0,2}\\?["'\`(]?|\s[\u2013\u2014-]?\s{0,2}|\s{0,20}|"[\r\n]{0,4}`,
  ];
  return {
    name: 'secret',
    triggers: [...[...passwords, 'secret', 'token'].flatMap(casings), ...pairCasings(['api', 'key'])],
    pattern: new RegExp(String.raw`(?:${key})(?:${said}|${close})(${valueText(8, 200)})`, 'iy'),
    reach: new RegExp(
      String.raw`(?:${key})(?:(?:${reaches[0] ?? ''})(?:\s{1,3}["'\`*]{0,2}(?<=(?:${verb}|:)\s{1,3}["'\`*]{0,2})${valueReach(200)})?|(?:${reaches[1] ?? ''})(?:(?<=[\s"'\`(])${valueReach(200)})?)`,
      'iy',
    ),
    rank: rankOfPlace,
    accept: (value, next) =>
      (hasEveryKind(value) || isJumble(value)) && !namesMethod.test(value) && isSecretValue(value.replace(/[.!?:]+$/, ''), next),
  };
}

/** A variable of the environment holds what it says, however weak: `DB_PASS=letmein`. */
function environmentRule(): PatternRule {
  return {
    name: 'secret',
    triggers: ['PASSWORD=', 'PASSWD=', 'PASSPHRASE=', 'PASS=', '_PWD='],
    pattern: new RegExp(String.raw`(?<![a-z])[A-Z_]{4,10}=["']?(${valueText(6, 200)})`, 'y'),
    reach: new RegExp(String.raw`[A-Z_]{4,10}=["']?${valueReach(200)}`, 'y'),
    rank: rankOfPlace,
    accept: (value, next) => next !== '(' && !isReference(value) && !/^(?:function|undefined|required|optional)$/i.test(value),
  };
}

/** A password in quotes with signs that end any other value: `"aB3,x(9)kQ"`. */
function quotedRule(): PatternRule {
  const key = `${passwords.join('|')}|secret`;
  return {
    name: 'secret',
    triggers: [...passwords, 'secret'].flatMap(casings),
    pattern: new RegExp(String.raw`${assigned(key)}([^\s"'\`\\]{8,200})(?=\\?["'\`])`, 'iy'),
    reach: new RegExp(String.raw`[\w-]{0,100}${separatorReach}\\?["'\`]?[^\s"'\`\\]{0,201}\\?`, 'iy'),
    rank: rankOfPlace,
    accept: (value) => /[,;<>(){}[\]&|]/.test(value) && hasEveryKind(value) && !looksLikeCode.test(value) && isSecretValue(value, ''),
  };
}

/** Slots of a template, placeholders, calls, indexes, operators, tags and addresses. */
const looksLikeCode = /[$%#][({]|\{\{|^[<[{(].*[>\])}]$|=>|<\/?[a-z]|[a-z_]{3}\w*[([]|::|:\/\/|&&|\|\|/i;

/** A short or numeric password that ends where its line or its quotes end. */
function shortRule(): PatternRule {
  return {
    name: 'secret',
    triggers: ['password', 'passwd', 'passwort'].flatMap(casings),
    pattern: /pass(?:word|wd|wort)["']?\s{0,4}[:=]\s{0,4}["']?([A-Za-z0-9!@#$%^*_.+-]{6,7}|\d{8,20})(?=["']|\s{0,4}(?:\n|$))/iy,
    reach: /pass(?:word|wd|wort)["']?\s{0,4}[:=]?\s{0,4}["']?[A-Za-z0-9!@#$%^*_.+-]{0,21}\s{0,4}/iy,
    rank: rankOfPlace,
    accept: (value) => /^\d{6,}$/.test(value) || (hasDigit(value) && isSecretValue(value, '')),
  };
}

/** A variable whose name ends in KEY and says of what service alone: `FAL_KEY=…`. */
function keyRule(): PatternRule {
  const open = 'PRIMARY|FOREIGN|CACHE|PUBLIC|PUBLISHABLE|SORT|PARTITION|ROUTING|OBJECT|IDEMPOTENCY|UNIQUE|HASH|RANGE|SITE|S3';
  return {
    name: 'secret',
    triggers: ['_KEY='],
    pattern: new RegExp(String.raw`(?<!(?:^|[^A-Z])(?:[A-Z0-9]+_)*(?:${open}))_KEY=["']?([A-Za-z0-9+/=_:.~-]{20,400})`, 'y'),
    reach: /_KEY=["']?[A-Za-z0-9+/=_:.~-]{0,401}/y,
    rank: rankOfPlace,
    accept: (value) => looksDense(value) && !uuid.test(value) && !isReference(value),
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
    /:\/\/|^[A-Za-z_]\w*::/.test(value) ||
    (/^(?:\.{0,2}|~)\/[\w.-]*(?:\/|\.\w+$)/.test(value) && !isRandomName(value)) ||
    (/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/.test(value) && !value.split('.').some(isRandomName)) ||
    /(?:\*{3}|x{5}|\.{3}|your[_-]|placeholder|change-?me)/i.test(value)
  );
}

/** Returns whether a name is longer and has more digits than names that people choose. */
function isRandomName(name: string): boolean {
  return name.length >= 16 && hasEveryKind(name) && /\d.*\d/.test(name) && entropy(name) >= 4;
}
