// The page the window may show inside itself: its own scripts and no other, whatever is put into it later.

import { expect, test } from 'vitest';
import { framedHeaders } from './framed-page.ts';

const policyOf = (page: string): string[] => (framedHeaders(Buffer.from(page))['content-security-policy'] ?? '').split('; ');

test('what it may do is pinned: the scripts it was sent with, styles, and nothing of any other place', () => {
  // SHA-256 of `one()` and `two("ü")`, in the form of the policy.
  expect(policyOf('<!doctype html>\n<script>one()</script>\n<script>two("ü")</script>')).toEqual([
    "default-src 'none'",
    "script-src 'sha256-HR7iaask9daLMRRskMI++QeJtjWDOjyPA6lGzYGzKW4=' 'sha256-J6NxKRP9T54TAD0iyg4m8BX+tOgGquthVDTOg83YbCI='",
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ]);
});

test('a page without scripts may run none', () => {
  expect(policyOf('<p>nothing')).toContain("script-src 'none'");
});
