// Judges the effect of an action by the description of its element: it only reads, or it sends, pays, deletes, posts or signs in. Pure.

import type { ToolClass } from '../../contracts/tools.ts';
import type { ElementForm } from './element-form.ts';
import { effectOfUrl, effectOfWords } from './grave-words.ts';

export interface ActionEffect {
  readonly reads: boolean;
  readonly class: Extract<ToolClass, 'network' | 'spend' | 'destructive' | 'credential' | 'message'>;
  readonly method: string;
  /** The target of the request; null if it is unknown. */
  readonly url: string | null;
  /** Warnings for the person, one sentence each. */
  readonly risks: readonly string[];
}

const FIELDS_SHOWN = 6;
const VALUE_SHOWN = 60;

/** `submit` is Enter in a field, which submits its form, or a click on a submit button. */
export function judgeElement(element: ElementForm, action: 'click' | 'submit'): ActionEffect {
  const { form } = element;
  if (form !== null && (element.isSubmit || action === 'submit')) return judgeForm(element, form);
  if (element.url !== '') return judgeLink(element);
  if (action === 'submit') return reads(null);
  // A click only focuses a field or ticks a box.
  if (element.isField || ['checkbox', 'radio', 'reset'].includes(element.type) || element.tag === 'select') return reads(null);
  const effect = effectOfWords(element.words);
  return effect === null ? reads(null) : sends(effect, 'POST', null, []);
}

function judgeForm(element: ElementForm, form: NonNullable<ElementForm['form']>): ActionEffect {
  const isGet = form.method === 'get' || form.method === 'dialog';
  const said = effectOfWords(`${element.words} ${form.words}`);
  const words = form.isSearch && isGet ? null : said;
  const effect = form.hasPassword ? 'credential' : (effectOfUrl(form.action) ?? words);
  const risks = [
    ...(form.fields.length === 0 ? [] : [`It sends ${fieldsOf(form)}.`]),
    ...(form.hasFile ? ['It uploads the chosen files.'] : []),
    ...(form.action.startsWith('http:') ? ['The connection is not encrypted.'] : []),
  ];
  const method = isGet ? 'GET' : form.method.toUpperCase();
  if (isGet && effect === null) return reads(form.action);
  return sends(effect ?? 'network', method, form.action, risks);
}

function judgeLink({ url, words }: ElementForm): ActionEffect {
  const isWeb = /^https?:/i.test(url);
  const effect = effectOfUrl(url) ?? graver(effectOfWords(words));
  if (effect !== null) return sends(effect, 'GET', isWeb ? url : null, []);
  return reads(isWeb ? url : null);
}

/** Ignores words of messages in links, since links are often named after a page's topic ("Send feedback", "Share"). */
function graver(effect: ReturnType<typeof effectOfWords>): ReturnType<typeof effectOfWords> {
  return effect === 'message' ? null : effect;
}

export function judgeOpen(url: string): ActionEffect {
  const effect = effectOfUrl(url);
  return effect === null ? reads(url) : sends(effect, 'GET', url, []);
}

function fieldsOf({ fields }: NonNullable<ElementForm['form']>): string {
  const shown = fields.slice(0, FIELDS_SHOWN).map(([name, value]) => `${name} = "${value.slice(0, VALUE_SHOWN)}"`);
  const more = fields.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function reads(url: string | null): ActionEffect {
  return { reads: true, class: 'network', method: 'GET', url, risks: [] };
}

function sends(effect: ActionEffect['class'], method: string, url: string | null, risks: readonly string[]): ActionEffect {
  return { reads: false, class: effect, method, url, risks };
}
