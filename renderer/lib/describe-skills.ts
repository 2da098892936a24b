// Describes events of skills, identities and prompt files as sentences for the activity view.

import { line, lines, type Lines } from './event-line.ts';

type SkillEvent = Extract<keyof Lines, `skill.${string}` | 'identity.changed' | 'prompt.accepted'>;

export const skillLines: Pick<Lines, SkillEvent> = {
  'skill.selected': ({ body }, { e }) =>
    line(
      e.skillsSelected(body.skills.map(({ name }) => name).join(', ')),
      body.excerpts.length === 0 ? '' : e.skillsShown(body.excerpts.join(', ')),
    ),
  'skill.expanded': ({ body }, { e }) =>
    line(
      body.file === null ? e.skillOpened(body.name) : e.skillRead(body.name, body.file),
      lines(body.from === null ? '' : `${body.from} → ${body.name}`, body.trusted ? '' : e.skillForeign),
      body.trusted ? 'plain' : 'wait',
    ),
  'skill.trusted': ({ body }, { e }) => {
    const what = body.name ?? body.target.path;
    return line(body.trusted ? e.skillTrusted(what, body.by) : e.skillDistrusted(what, body.by), body.target.path);
  },
  'skill.configured': ({ body }, { e }) => line(e.skillSwitched[body.enabled ? 'on' : 'off'](body.name, body.by)),
  'skill.imported': ({ body }, { e }) => line(e.skillImported(body.name, body.by), body.from),
  'skill.removed': ({ body }, { e }) => line(e.skillRemoved(body.name, body.by), body.path),
  'skill.installing': ({ body }, { e }) => line(e.skillsInstalling(namesOf(body.moves), body.by)),
  'skill.installed': ({ body }, { e }) =>
    line(e.skillsInstalled(namesOf(body.skills), body.by), lines(...body.skills.map(({ source }) => source.from))),
  'skill.install_undone': ({ body }, { e }) => line(e.skillsUndone, body.reason, 'wait'),
  'skill.pinned': ({ body }, { e }) => line(e.skillPinned[body.isPinned ? 'on' : 'off'](body.name, body.by)),
  'identity.changed': ({ body }, { e }) => line(e.identityChanged(body.agentId, body.version, body.by), body.note ?? ''),
  'prompt.accepted': ({ body }, { e }) => line(e.promptAccepted(body.name, body.version, body.by), body.url ?? ''),
};

function namesOf(skills: readonly { readonly name: string }[]): string {
  return skills.map(({ name }) => name).join(', ');
}
