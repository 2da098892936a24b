// Puts the window into the page: the frame, or the form for a token.

import { mount } from 'svelte';
import './kit/tokens.css';
import './kit/base.css';
import './kit/classes.css';
import type { HttpClient } from './lib/http-client.ts';
import Root from './root.svelte';

/** The client of the token the page was opened with, if it was. */
export function openWindow(page: Document, first: HttpClient | null): void {
  const target = page.getElementById('app');
  if (target !== null) mount(Root, { target, props: { first } });
}
