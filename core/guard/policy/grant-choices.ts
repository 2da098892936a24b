// Lists the scopes wider than once that are offered for a call, narrowest first, and describes each. Pure; in doubt, offers only the exact
// call.

import { basename, dirname } from 'node:path';
import type { GrantChoice } from '../../contracts/policy.ts';
import { bindingsOf, needsOf, onlyChangesFiles, readsRepository, type CallFacts, type CommandFact } from '../../contracts/tools.ts';
import { bindingsHash } from './bindings.ts';
import { exactMatch, sameWords, type GrantableCall } from './grant-match.ts';
import { showFolder } from './shown-folder.ts';

const LINE_SHOWN_MAX = 200;

/** Programs that reach other machines and services. For these, only the exact line is offered. */
const infrastructure: ReadonlySet<string> = new Set(
  (
    'docker podman nerdctl kubectl helm terraform tofu pulumi packer vagrant ansible ansible-playbook systemctl service launchctl ssh scp ' +
    'sftp rsync aws gcloud az doctl flyctl heroku vercel wrangler crontab iptables nft mount umount'
  ).split(' '),
);

/** Returns at least one choice. */
export function choicesFor(call: GrantableCall): readonly [GrantChoice, ...GrantChoice[]] {
  const { facts, tool } = call;
  if (facts.command !== null && facts.input === undefined) return commandChoices(call, facts.command);
  if (facts.class === 'write') {
    const written = writtenFolder(facts);
    if (written !== null) return folderChoices(call, written);
  }
  const exact = { match: exactMatch(call), covers: describeExact(call) };
  const [host] = facts.hosts;
  const onlyFetches = facts.class === 'network' && facts.request?.reads === true && facts.hosts.length === 1 && facts.paths.length === 0;
  if (!onlyFetches || host === undefined) return [exact];
  return [exact, { match: { kind: 'host', tool, host }, covers: `fetch from ${host}` }];
}

function describeExact({ tool, facts }: GrantableCall): string {
  if (facts.input !== undefined) return `type exactly this into ${facts.input.id}, which runs \`${shorten(facts.input.command)}\``;
  return facts.request?.reads === true ? `fetch exactly ${shorten(facts.request.url)}` : `${tool} with exactly these arguments`;
}

function commandChoices(call: GrantableCall, command: CommandFact): readonly [GrantChoice, ...GrantChoice[]] {
  const { tool, facts, workspace } = call;
  const { line, cwd, plain } = command;
  const place = showFolder(cwd, workspace);
  const bindings = bindingsOf(command);
  if (bindings === null) {
    return [
      {
        match: { kind: 'command', tool, line, cwd },
        covers: `run exactly \`${shorten(line)}\` in ${place}, even if the files it uses change`,
      },
    ];
  }
  const bound = bindingsHash(bindings);
  const exact: GrantChoice = {
    match: { kind: 'command', tool, line, cwd, bindingsHash: bound },
    covers: `run exactly \`${shorten(line)}\` in ${place}`,
  };
  const written = onlyChangesFiles(facts)
    ? writtenFolder({ ...facts, paths: facts.paths.filter(({ access }) => access === 'write') })
    : null;
  if (written !== null) return [exact, writesChoice(call, written)];
  const needs = needsOf(command) ?? [];
  const [first] = needs;
  const program = basename(plain?.argv[0] ?? '');
  if (first === undefined || facts.class !== 'exec' || facts.hosts.length > 0 || infrastructure.has(program)) return [exact];
  const { family } = first;
  const choices: [GrantChoice, ...GrantChoice[]] = [exact];
  if (needs.every((need) => sameWords(need.family, family))) {
    choices.push({
      match: { kind: 'family', tool, family, cwd, bindingsHash: bound },
      covers: `\`${shorten(family.join(' '))}\` in ${place}, with any options known to be harmless`,
    });
  }
  if (needs.every((need) => readsRepository(need.family))) {
    choices.push({
      match: { kind: 'git-reads', tool, cwd, bindingsHash: bound },
      covers: `git in ${place} where it only looks: status, diff, log, show and their like`,
    });
  }
  return choices;
}

/** Returns the folder that contains all written files, if it is inside the workspace. Otherwise returns null. */
function writtenFolder(facts: CallFacts): string | null {
  const [first, ...others] = facts.paths;
  if (first === undefined || facts.hosts.length > 0) return null;
  const folder = dirname(first.real);
  const alike = [first, ...others].every((path) => path.insideWorkspace && path.access === 'write' && dirname(path.real) === folder);
  return alike ? folder : null;
}

function folderChoices(call: GrantableCall, folder: string): readonly [GrantChoice, ...GrantChoice[]] {
  const { tool, workspace } = call;
  const covers = `${tool} for files under ${showFolder(folder, workspace)}`;
  return [{ match: { kind: 'folder', tool, folder }, covers }, writesChoice(call, folder)];
}

function writesChoice({ workspace }: GrantableCall, folder: string): GrantChoice {
  return {
    match: { kind: 'writes', tool: '*', folder },
    covers: `any tool or command that only changes files under ${showFolder(folder, workspace)}`,
  };
}

function shorten(text: string): string {
  return text.length <= LINE_SHOWN_MAX ? text : `${text.slice(0, LINE_SHOWN_MAX)}…`;
}
