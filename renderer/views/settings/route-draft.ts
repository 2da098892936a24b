// A route as edited in a form: one candidate per line. Other settings of a candidate stay with its model.

import type { Config } from '../../../core/contracts/config.ts';

export type Route = Config['models']['routes'][string];
type Candidate = Route['candidates'][number];

export interface RouteDraft {
  name: string;
  /** One model per line. */
  models: string;
  prefer: Route['prefer'];
  localOnly: boolean;
}

export const emptyRoute: Readonly<RouteDraft> = { name: '', models: '', prefer: 'order', localOnly: false };

export function draftOf(name: string, { candidates, prefer, localOnly }: Route): RouteDraft {
  return { name, models: candidates.map(modelOf).join('\n'), prefer, localOnly };
}

/** `before` is the previous route; models that stay keep their conditions and weights. */
export function routeOf({ models, prefer, localOnly }: RouteDraft, before: Route | undefined): Route {
  const known = new Map((before?.candidates ?? []).map((candidate) => [modelOf(candidate), candidate]));
  const lines = models
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return { candidates: [...new Set(lines)].map((model) => known.get(model) ?? model), prefer, localOnly };
}

export function modelOf(candidate: Candidate): string {
  return typeof candidate === 'string' ? candidate : candidate.model;
}

/** The candidate's conditions and weight, as in config.yaml; empty for none. */
export function extrasOf(candidate: Candidate): string {
  if (typeof candidate === 'string') return '';
  const { when = {}, weight } = candidate;
  const all = { ...when, ...(weight === undefined ? {} : { weight }) };
  return Object.entries(all)
    .map(([key, value]) => `${key}: ${String(value)}`)
    .join(', ');
}
