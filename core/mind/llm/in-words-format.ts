// A request without a tool interface: tools are part of the system prompt, calls and results are text (calls-in-text.ts), and the roles of
// user and assistant alternate, as the templates of models without tools require. Wraps a format whose messages are a role and text. A user
// message stays open, so that later text joins it without rewriting anything.

import { assistantInWords, resultsInWords, toolsInWords } from './calls-in-text.ts';
import { jsonText, spoken, type Spoken } from './message-groups.ts';
import type { Tail, WireFormat } from './request-body.ts';

const CLOSED = '"}';

export function createInWordsFormat(base: WireFormat): WireFormat {
  const say = (said: Spoken, tail: Tail): { readonly text: string; readonly tail: Tail } => {
    if (said.images.length === 0)
      return { text: (tail === 'open' ? '\\n\\n' : `${after(tail)}{"role":"user","content":"`) + inner(said.text), tail: 'open' };
    const shown = base.spoken(said, tail === 'empty' ? 'empty' : 'closed');
    return { text: (tail === 'open' ? CLOSED : '') + shown.text, tail: 'closed' };
  };
  return {
    prefix(request) {
      const { system, tools } = request;
      const parts = [system, ...(tools.length === 0 ? [] : [toolsInWords(tools)])];
      return base.prefix({ ...request, tools: [], system: parts.filter((part) => part !== '').join('\n\n') });
    },
    group({ assistant, results, said }, given) {
      let text = '';
      let tail = given;
      if (assistant !== null) {
        text = `${after(tail)}{"role":"assistant","content":${jsonText(assistantInWords(assistant))}}`;
        tail = 'closed';
      }
      const told: Spoken[] = results.length === 0 ? [] : [{ text: resultsInWords(results), images: [] }];
      for (const one of [...told, ...said]) {
        const next = say(one, tail);
        text += next.text;
        ({ tail } = next);
      }
      return { text, tail };
    },
    spoken: say,
    suffix({ tail: last, ...request }, tail) {
      const note = last === undefined ? { text: '', tail } : say(spoken({ role: 'note', text: last }), tail);
      return note.text + (note.tail === 'open' ? CLOSED : '') + base.suffix(request, 'closed');
    },
  };
}

function after(tail: Tail): string {
  if (tail === 'empty') return '';
  return tail === 'open' ? `${CLOSED},` : ',';
}

function inner(text: string): string {
  return jsonText(text).slice(1, -1);
}
