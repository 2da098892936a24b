// The standing instructions of a session. Their text changes at most once a day, so that the prefix stays cached.

import { fillPrompt } from '../../contracts/own-prompts.ts';

interface Surroundings {
  readonly workspace: string;
  readonly platform: string;
  readonly nowMs: number;
}

/** Returns the standing instructions of a session; null selects the configured workspace. */
export type SystemPrompt = (workspace: string | null) => string;

const DAY_MS = 86_400_000;
const TEXTS_KEPT = 32;

/** Creates a function that returns the current text. It rebuilds the text only if the day (UTC) or the template has changed. */
export function createSystemPrompt(surroundings: {
  workspace: string;
  platform: string;
  nowMs(): number;
  template(): string;
}): SystemPrompt {
  let day = -1;
  let template = '';
  const texts = new Map<string, string>();
  return (own) => {
    const nowMs = surroundings.nowMs();
    const today = Math.floor(nowMs / DAY_MS);
    const current = surroundings.template();
    if (today !== day || current !== template || texts.size > TEXTS_KEPT) texts.clear();
    day = today;
    template = current;
    const workspace = own ?? surroundings.workspace;
    const text = texts.get(workspace) ?? fill(template, { workspace, platform: surroundings.platform, nowMs });
    texts.set(workspace, text);
    return text;
  };
}

function fill(template: string, { workspace, platform, nowMs }: Surroundings): string {
  return fillPrompt(template, { today: new Date(nowMs).toISOString().slice(0, 10), system: platform, workspace });
}
