// The effects of a skill: the tools, commands, hosts, secrets, folders and other skills that it declares or that its files use. Pure.

import type { SkillEffect, SkillRisk } from '../../contracts/features/skill-store.ts';
import { coversHost, hostsInText } from '../../base/hosts-in-text.ts';
import { isText, risk } from './skill-scan.ts';

/** The part of the front matter that declares effects. */
export interface DeclaredEffects {
  readonly tools: readonly string[];
  readonly skills: readonly string[];
  readonly hosts: readonly string[];
  readonly folders: readonly string[];
  readonly needs: { readonly bins: readonly string[]; readonly anyBins: readonly string[]; readonly env: readonly string[] };
}

type Kind = SkillEffect['kind'];

const EACH_MAX = 60;
const scripts: readonly (readonly [RegExp, string])[] = [
  [/\.py$/i, 'python3'],
  [/\.(?:m?js|cjs|ts)$/i, 'node'],
  [/\.(?:ba|z)?sh$/i, 'sh'],
  [/\.ps1$/i, 'powershell'],
  [/\.rb$/i, 'ruby'],
  [/\.pl$/i, 'perl'],
];
const builtIns = new Set('cd echo export if then else fi for do done while set source true false exit read test case esac function return local printf alias unset in'.split(' ')); // prettier-ignore

export function effectsOf(declared: DeclaredEffects, files: ReadonlyMap<string, Uint8Array>): SkillEffect[] {
  const found = foundIn(files);
  const { tools, skills, hosts, folders, needs } = declared;
  return [
    ...both('tool', tools, new Set()),
    ...both('command', [...needs.bins, ...needs.anyBins], found.command),
    ...both('host', hosts, found.host),
    ...both('secret', needs.env, found.secret),
    ...both('folder', folders, found.folder),
    ...both('skill', skills, new Set()),
  ];
}

/** Warns about hosts and secrets that the skill uses without declaring them. */
export function undeclaredRisks(effects: readonly SkillEffect[]): SkillRisk[] {
  const undeclared = (kind: Kind): string[] =>
    effects.filter((one) => one.kind === kind && one.isFound && !one.isDeclared).map(({ name }) => name);
  const hosts = undeclared('host');
  const secrets = undeclared('secret');
  return [
    ...(hosts.length === 0
      ? []
      : [risk('warning', 'undeclared-host', `It names hosts that it does not declare: ${hosts.slice(0, 8).join(', ')}.`)]),
    ...(secrets.length === 0
      ? []
      : [risk('warning', 'undeclared-secret', `It uses secrets that it does not declare: ${secrets.slice(0, 8).join(', ')}.`)]),
  ];
}

function both(kind: Kind, declared: readonly string[], found: ReadonlySet<string>): SkillEffect[] {
  const own = [...new Set(declared)].map((name): SkillEffect => ({ kind, name, isDeclared: true, isFound: found.has(name) }));
  const others = [...found].filter((name) => !declared.includes(name)).sort();
  return [...own, ...others.map((name): SkillEffect => ({ kind, name, isDeclared: coversHost(declared, name), isFound: true }))].slice(
    0,
    EACH_MAX,
  );
}

interface Found {
  readonly command: Set<string>;
  readonly host: Set<string>;
  readonly secret: Set<string>;
  readonly folder: Set<string>;
}

function foundIn(files: ReadonlyMap<string, Uint8Array>): Found {
  const found: Found = { command: new Set(), host: new Set(), secret: new Set(), folder: new Set() };
  for (const [path, content] of files) {
    const runner = scripts.find(([ending]) => ending.test(path))?.[1];
    if (runner !== undefined) found.command.add(runner);
    if (isText(content)) lookIn(Buffer.from(content).toString('utf8'), found);
  }
  return found;
}

function lookIn(text: string, found: Found): void {
  for (const host of hostsInText(text)) found.host.add(host);
  const secretName =
    /(?:\$\{?|process\.env\.|process\.env\[["']|environ(?:\.get)?[[(]["']|getenv\(["'])([A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)[A-Z0-9_]*)/g;
  for (const [, name = ''] of text.matchAll(secretName)) found.secret.add(name);
  for (const [, path = ''] of text.matchAll(/(?<![\w/])((?:~|\$HOME)\/[\w.-]+)/g)) found.folder.add(path);
  for (const [, block = ''] of text.matchAll(/^[ \t]*```(?:sh|bash|shell|console|zsh)[^\n]*\n([\s\S]*?)^[ \t]*```/gm))
    commandsIn(block, found.command);
}

function commandsIn(block: string, into: Set<string>): void {
  // Quoted text is an argument, even if it contains separators.
  const plain = block.replaceAll(/\\\n/g, ' ').replaceAll(/'[^']*'|"[^"]*"/g, '_');
  for (const line of plain.split('\n')) {
    for (const part of line.replace(/^\s*[$#>]\s+/, '').split(/\|\|?|&&|;/)) {
      const word = /^\s*(?:\w+=\S*\s+)*(?:sudo\s+)?([a-z][\w.+-]*)(?=\s|$)/.exec(part)?.[1];
      if (word !== undefined && !builtIns.has(word)) into.add(word);
    }
  }
}
