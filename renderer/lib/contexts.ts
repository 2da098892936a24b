// The contexts of the window: what its root creates and every component may take, without passing it through the components between.

import { createContext } from 'svelte';
import type { Language } from './i18n/language.ts';
import type { App } from './state/app.svelte.ts';
import type { Appearance } from './state/appearance.svelte.ts';
import type { Frame } from './state/frame.svelte.ts';

export const [getApp, setApp] = createContext<App>();
export const [getAppearance, setAppearance] = createContext<Appearance>();
export const [getFrame, setFrame] = createContext<Frame>();
export const [getLanguage, setLanguage] = createContext<Language>();
