// Judges the effect of an action by the description of its element: it only reads, or it sends, pays, deletes, posts or signs in. Pure.

import { decodeComponent } from '../../base/decode-component.ts';
import type { ToolClass } from '../../contracts/tools.ts';
import type { ElementForm } from './element-form.ts';

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

// Words on a page that announce an effect, by kind of effect, in a few common languages. Requests behind words that the list lacks are
// still blocked when the page sends something (page-guard.ts).

type PageEffect = Extract<ToolClass, 'spend' | 'destructive' | 'credential' | 'message'>;

const kinds: Readonly<Record<PageEffect, string>> = {
  spend:
    'buy pay order purchase checkout subscribe donate bid book reserve transfer withdraw payment upgrade renew rent invest trade ' +
    'kaufen bezahlen bestellen zahlungspflichtig überweisen spenden buchen acheter payer commander réserver virement ' +
    'comprar pagar pedir reservar transferir acquista paga ordina 购买 支付 付款 下单',
  destructive:
    'delete remove erase destroy deactivate terminate unsubscribe wipe reset revoke discard purge drop uninstall ban block archive ' +
    'cancelsubscription cancelorder cancelbooking closeaccount ' +
    'löschen entfernen kündigen stornieren zurücksetzen supprimer effacer résilier annuler eliminar borrar cancelar elimina cancella 删除 注销',
  credential:
    'login logout signin signout signup register authorize authorise authenticate password passkey oauth consent grant ' +
    'anmelden abmelden registrieren einloggen connexion connecter déconnexion inscrire autoriser iniciar registrarse autorizar accedi 登录 注册 授权',
  message:
    'send post publish reply comment share tweet submit apply invite email message upload sign vote rate review approve confirm accept ' +
    'agree save update create add change merge deploy report follow like ' +
    'senden absenden veröffentlichen antworten bewerben speichern bestätigen zustimmen ändern envoyer publier répondre valider confirmer ' +
    'accepter enregistrer enviar publicar responder confirmar aceptar guardar invia pubblica conferma salva 发送 发布 提交 确认 保存',
};

/** Pairs of words with an effect that the single words lack. */
const pairs: readonly (readonly [string, PageEffect])[] = [
  ['log in', 'credential'],
  ['log out', 'credential'],
  ['sign in', 'credential'],
  ['sign up', 'credential'],
  ['sign out', 'credential'],
  ['check out', 'spend'],
  ['place order', 'spend'],
  ['cancel subscription', 'destructive'],
  ['cancel order', 'destructive'],
  ['close account', 'destructive'],
];

const byWord = new Map(
  (Object.entries(kinds) as [PageEffect, string][]).flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind] as const)),
);
const graveFirst: readonly PageEffect[] = ['spend', 'destructive', 'credential', 'message'];

/** The gravest effect that these words announce; null if there is none. */
export function effectOfWords(text: string): PageEffect | null {
  const words = wordsOf(text);
  const line = ` ${words.join(' ')} `;
  const found = new Set<PageEffect>(words.flatMap((word) => byWord.get(word) ?? byWord.get(word.replace(/(?:s|ing)$/, '')) ?? []));
  for (const [pair, kind] of pairs) if (line.includes(` ${pair} `)) found.add(kind);
  // Han script has no spaces between words, so substrings count.
  for (const [word, kind] of byWord) if (/\p{Script=Han}/u.test(word) && text.includes(word)) found.add(kind);
  return graveFirst.find((kind) => found.has(kind)) ?? null;
}

/** The effect that an address announces in its path and query. Messages do not count, only spending, deleting and account changes. */
export function effectOfUrl(url: string): PageEffect | null {
  const parsed = URL.parse(url);
  if (parsed === null || /\.(?:js|mjs|css|png|jpe?g|gif|svg|webp|woff2?|ico|map)$/i.test(parsed.pathname)) return null;
  const effect = effectOfWords(decodeComponent(`${parsed.pathname} ${parsed.search}`.replaceAll('+', ' ')));
  return effect === 'message' ? null : effect;
}

/** Splits text into lower-case words; `deleteAccount` and `delete-account` are two words each. */
function wordsOf(text: string): string[] {
  return text
    .slice(0, 2000)
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
