// Mounts the window into the page: the frame, or the form that asks for a token.

import { mount } from 'svelte';
import './kit/tokens.css';
import './kit/base.css';
import './kit/classes.css';
import type { HttpClient } from './lib/http-client.ts';
import Root from './root.svelte';

/** `first` is the client for the token in the page's address, if there was one. */
export function openWindow(page: Document, first: HttpClient | null): void {
  const target = page.getElementById('app');
  if (target !== null) mount(Root, { target, props: { first } });
}
