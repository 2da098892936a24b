// Words on a page that announce an effect, by kind of effect, in a few common languages. Requests behind words that the list lacks are
// still blocked when the page sends something (page-guard.ts).

import { decodeComponent } from '../../base/decode-component.ts';
import type { ToolClass } from '../../contracts/tools.ts';

export type PageEffect = Extract<ToolClass, 'spend' | 'destructive' | 'credential' | 'message'>;

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
