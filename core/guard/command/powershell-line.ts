// Parses the small part of PowerShell that is understood: the name of a program, then words, numbers and flags, or quoted text without
// expansion. Anything PowerShell would treat as a cmdlet, an alias or an operator is unclear.

import { err, ok, type Result } from '../../base/result.ts';

const word = /^[A-Za-z0-9_./\\:=+-]+$/;
const singleQuoted = /^'[^'\u2018-\u201b\p{C}\p{Z}]*(?: [^'\u2018-\u201b\p{C}\p{Z}]*)*'$/u;
const doubleQuoted = /^"[^"$`\u201c-\u201e\p{C}\p{Z}]*(?: [^"$`\u201c-\u201e\p{C}\p{Z}]*)*"$/u;
const program = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const tokens = /'[^']*'|"[^"]*"|[^\s'"]+|[ \t]+|[^]/g;

/** Names that PowerShell defines. A program of that name would not run. */
const ownNames = new Set(
  [
    'ac asnp cat cd chdir clc clear clhy cli clp cls clv cnsn compare copy cp cpi cpp curl cvpa dbp del diff dir dnsn ebp echo epal',
    'epcsv epsn erase etsn exsn fc fhx fl foreach ft fw gal gbp gc gci gcm gcs gdr ghy gi gjb gl gm gmo gp gps gpv group gsn gsnp gsv',
    'gu gv gwmi h history icm iex ihy ii ipal ipcsv ipmo ipsn irm ise iwmi iwr kill lp ls man md measure mi mount move mp mv nal ndr',
    'ni nmo npssc nsn nv ogv oh popd ps pushd pwd r rbp rcjb rcsn rd rdr ren ri rjb rm rmdir rmo rni rnp rp rsn rsnp rujb rv rvpa rwmi',
    'sajb sal saps sasv sbp sc select set shcm si sl sleep sls sort sp spjb spps spsv start sujb sv swmi tee trcm type wget where wjb',
    'write if else elseif switch while for do until function filter return break continue throw trap try catch finally param begin',
    'process end exit data in class enum using workflow parallel sequence inlinescript configuration dynamicparam help mkdir prompt',
  ].flatMap((names) => names.split(' ')),
);

export function readPowerShell(line: string): Result<readonly string[], string> {
  const argv: string[] = [];
  let isAfterBlank = true;
  for (const token of line.match(tokens) ?? []) {
    if (/^[ \t]+$/.test(token)) {
      isAfterBlank = true;
      continue;
    }
    // PowerShell would join or split text that is not separated by blanks.
    const text = isAfterBlank ? literalText(token) : null;
    if (text === null) return err('it is more than a program with plain words');
    argv.push(text);
    isAfterBlank = false;
  }
  const [name] = argv;
  if (name === undefined) return err('it is empty');
  if (!line.trimStart().startsWith(name) || !program.test(name)) return err("the program's name holds an unusual character");
  if (ownNames.has(name.toLowerCase()) || /^[a-z]+-[a-z]+$/i.test(name)) return err(`${name} is carried out by PowerShell itself`);
  return argv.includes('--%') ? err('it stops the reading of arguments') : ok(argv);
}

function literalText(token: string): string | null {
  if (word.test(token)) return token;
  return singleQuoted.test(token) || doubleQuoted.test(token) ? token.slice(1, -1) : null;
}
