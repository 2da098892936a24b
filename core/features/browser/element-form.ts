// Describes an element of a page: runs in the page and validates the result here. Makes no judgement.

import * as z from 'zod';

const text = z.string().transform((value) => value.slice(0, 400));
const boxSchema = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

const formSchema = z.object({
  method: text,
  action: z.string().max(8000),
  /** The form's heading, label and name. */
  words: text,
  fields: z.array(z.tuple([text, text])).max(30),
  hasPassword: z.boolean(),
  hasFile: z.boolean(),
  isSearch: z.boolean(),
});

export const elementFormSchema = z.object({
  tag: text,
  type: text,
  /** The element's name and text. */
  words: text,
  /** The target of a link; empty for other elements. */
  url: z.string().max(8000),
  isSubmit: z.boolean(),
  /** Text can be typed into the element. */
  isField: z.boolean(),
  isPassword: z.boolean(),
  /** The origins of the element's document and of the page. */
  origin: text,
  pageOrigin: text,
  form: formSchema.nullable(),
  box: boxSchema.nullable(),
});
export type ElementForm = z.infer<typeof elementFormSchema>;

/**
 * Runs in the page. Describes the element that a click on the middle of the given element would hit; a label counts as its control. The
 * page can falsify the result, so page-guard.ts blocks the requests that follow from it.
 */
const source = String.raw`(given) => {
  const up = (from, selector) => {
    for (let at = from; at; at = at.getRootNode().host) {
      const found = at.closest && at.closest(selector);
      if (found) return found;
    }
    return null;
  };
  const rect = given.getBoundingClientRect();
  let met = given;
  const root = given.getRootNode();
  const hit = root.elementFromPoint && root.elementFromPoint(rect.x + rect.width / 2, rect.y + rect.height / 2);
  if (hit && given.contains(hit)) met = hit;
  const label = up(met, 'label');
  const acting = 'button,input,select,textarea,a[href],area[href],summary,[role=button],[role=link],[role=menuitem]';
  const element = (label && label.control) || up(met, acting) || met;
  const tag = element.localName;
  const type = (element.getAttribute('type') || (tag === 'button' ? 'submit' : '')).toLowerCase();
  const clean = (value) => String(value || '').replace(/\s+/g, ' ').trim().slice(0, 400);
  const named = (one) => {
    const by = (one.getAttribute('aria-labelledby') || '').split(/\s+/).map((id) => id && document.getElementById(id)).filter(Boolean);
    const labels = one.labels ? [...one.labels].map((each) => each.textContent) : [];
    const own = one.localName === 'input' && !/^(submit|button|reset)$/.test(one.type) ? '' : one.value;
    return [one.getAttribute('aria-label'), ...by.map((each) => each.textContent), ...labels, one.textContent, own,
      one.getAttribute('title'), one.getAttribute('alt'), one.id, one.getAttribute('name')].map(clean).filter(Boolean).join(' ');
  };
  const form = element.form || up(element, 'form');
  const isButton = (tag === 'button' && type === 'submit') || (tag === 'input' && /^(submit|image)$/.test(type));
  const takesText = tag === 'textarea' || element.isContentEditable === true ||
    (tag === 'input' && !/^(submit|button|reset|image|checkbox|radio|file|range|color|hidden)$/.test(type));
  const fieldsOf = (one) => [...one.elements].filter((each) => each.name && each.type !== 'submit' && each.type !== 'button')
    .slice(0, 30).map((each) => [clean(each.name), each.type === 'password' ? '(not shown)' : clean(each.value)]);
  const addressOf = (text) => { try { return new URL(text, document.baseURI).href; } catch { return document.URL; } };
  const link = up(element, 'a[href],area[href]');
  let pageOrigin = '';
  try { pageOrigin = window.top.location.origin; } catch { pageOrigin = 'another'; }
  const shown = element.getBoundingClientRect();
  return {
    tag, type, words: clean(named(element)),
    url: link ? String(link.href.baseVal === undefined ? link.href : link.href.baseVal) : '',
    isSubmit: isButton && form !== null,
    isField: takesText, isPassword: type === 'password',
    origin: window.location.origin, pageOrigin,
    form: form ? {
      method: ((isButton && element.getAttribute('formmethod')) || form.getAttribute('method') || 'get').toLowerCase(),
      action: (isButton && element.hasAttribute('formaction') && element.formAction) || addressOf(form.getAttribute('action') || ''),
      words: clean([form.getAttribute('aria-label'), form.id, form.getAttribute('name'),
        ...[...form.querySelectorAll('legend,h1,h2,h3,button,input[type=submit]')].slice(0, 6).map((each) => each.textContent || each.value)].filter(Boolean).join(' ')),
      fields: fieldsOf(form),
      hasPassword: form.querySelector('input[type=password]') !== null,
      hasFile: form.querySelector('input[type=file]') !== null,
      isSearch: form.getAttribute('role') === 'search' || form.querySelector('input[type=search]') !== null || up(form, '[role=search],search') !== null,
    } : null,
    box: shown.width > 0 ? { x: shown.x, y: shown.y, width: shown.width, height: shown.height } : null,
  };
}`;

/**
 * A selector engine of the driver, which runs in an isolated world that the page cannot reach. Finds elements by their refs and returns a
 * detached element whose text describes them all. One query replaces several per element.
 */
export const describingEngine = {
  name: 'described',
  source: String.raw`(() => {
    const describe = ${source};
    const attribute = (one, name) => Element.prototype.getAttribute.call(one, name);
    const query = (root, selector) => {
      const wanted = new Set(selector.split(','));
      const found = new Map();
      const look = (within) => {
        for (const one of within.querySelectorAll('*')) {
          const { ref } = one._ariaRef || {};
          const known = typeof ref === 'string' ? ref : attribute(one, 'data-outline-ref');
          // Two elements with the same ref: neither is described.
          if (known !== null && wanted.has(known)) found.set(known, found.has(known) ? null : one);
          if (one.shadowRoot) look(one.shadowRoot);
        }
      };
      look(root);
      const told = [];
      for (const [ref, one] of found) {
        try { if (one !== null) told.push([ref, describe(one)]); } catch { /* It says nothing that makes sense. */ }
      }
      const answer = (root.ownerDocument || root).createElement('data');
      answer.textContent = JSON.stringify(told);
      return answer;
    };
    return { query, queryAll: (root, selector) => [query(root, selector)] };
  })()`,
};
