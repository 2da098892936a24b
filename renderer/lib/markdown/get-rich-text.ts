// Finds the tools that render answers for the component that is being created, and makes them for the first one.

import { getLanguage } from '../i18n/language.ts';
import { getRichPlace } from './rich-place.ts';
import { RichText } from './rich-text.ts';

export function getRichText(): RichText {
  const language = getLanguage();
  return (getRichPlace().text ??= new RichText(() => language.words));
}
