// Detects secrets by their place if no word names them: in the query of a URL, in the credentials of a header, in session cookies, and as
// the words of a pass phrase.

import { looksDense, rankOfPlace, type PatternRule } from './pattern-rule.ts';

export function createPlaceRules(): PatternRule[] {
  return [authorizationRule(), queryRule(), userInfoRule(), ...cookieRules(), phraseRule(), wordsRule()];
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
  'key token auth sig signature code appid secret pass password pwd session sid apikey api_key api-key access_token auth_token X-Amz-Signature X-Amz-Security-Token X-Goog-Signature Signature q-signature X-Oss-Signature x-oss-signature X-Tos-Signature'.split(
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

/** Words of sentences, which no pass phrase of dice has four times in a row without one of these. */
const ofSentences =
  /\b(?:a|an|and|are|at|be|by|can|do|does|enter|for|from|has|have|if|in|is|it|its|must|no|not|of|on|or|should|that|the|this|to|was|when|which|will|with|you|your|please|passphrase|password)\b/;

/** Some words behind a name that says what they are: `passphrase: correct horse …`. */
function wordsRule(): PatternRule {
  return {
    name: 'secret',
    triggers: ['passphrase', 'Passphrase', 'PASSPHRASE', '_PASSWORD', 'pass phrase', 'Pass phrase'],
    pattern:
      /(?:pass[ _]?phrase|_PASSWORD)(?:["']?\s{0,3}[:=]\s{0,3}["']?|\sis:?\s["']?|\s["'])((?:[a-z]{3,12}[ -]){3,11}[a-z]{3,12})(?=["']|\.?\s{0,3}(?:\n|$))/iy,
    reach: /(?:pass[ _]?phrase|_PASSWORD)["']?\s{0,3}(?:[:=]|is:?)?\s{0,3}["']?(?:[a-z]{0,12}[ -]?){0,13}/iy,
    rank: rankOfPlace,
    accept: (secret) => secret === secret.toLowerCase() && !ofSentences.test(secret),
  };
}
