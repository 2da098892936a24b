// Exports a run as text for people, JSON for programs, JUnit for build servers or Markdown for reviews. Pure.

import { counted } from '../../base/counted.ts';
import { formatUsd } from '../../base/format-usd.ts';
import type { EvalCase, EvalRun } from '../../contracts/features/evals.ts';

export function exportRun(run: EvalRun, format: 'text' | 'json' | 'junit' | 'markdown'): string {
  if (format === 'junit') return asJunit(run);
  if (format === 'json') return JSON.stringify(run, null, 2);
  return format === 'markdown' ? asMarkdown(run) : asText(run);
}

/** Why a case did not pass; empty if it passed. */
function whyNot({ error, checks }: EvalCase): string {
  if (error !== undefined) return error;
  return checks.flatMap(({ pass, type, reason }) => (pass ? [] : [`${type}: ${reason}`])).join(' ');
}

function headOf({ runId, passed, failed, errors, requests, cached, rate, costUsd, finished, running, leftOut }: EvalRun): string {
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const repeats = rate.k > 1 ? ` pass@${rate.k} ${percent(rate.passAtK)}, pass^${rate.k} ${percent(rate.passHatK)}.` : '';
  const cost = costUsd === null ? '' : ` Cost: ${formatUsd(costUsd)}.`;
  const unfinished = running ? ' It is still running.' : ' It was interrupted; run it again to finish it.';
  const end = finished ? '' : unfinished;
  const left = leftOut === undefined ? '' : `\nLeft out: ${leftOut}.`;
  return `${runId}: ${passed} passed, ${failed} failed, ${counted(errors, 'error')}. ${percent(rate.rate)} (95 %: ${percent(rate.low)} to ${percent(rate.high)}).${repeats} ${counted(requests, 'request')}, ${cached} from the cache.${cost}${end}${left}`;
}

function asText(run: EvalRun): string {
  const lines = run.cases
    .filter(({ verdict }) => verdict !== 'pass')
    .map((one) => `${one.verdict.toUpperCase()} ${one.name}\n  ${whyNot(one)}`);
  return [headOf(run), ...lines].join('\n');
}

function asMarkdown(run: EvalRun): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ').slice(0, 300);
  const rows = run.cases.map((one) => `| ${one.verdict} | ${cell(one.name)} | ${cell(whyNot(one))} |`);
  return [`# ${run.model}`, '', headOf(run), '', '| | case | why |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

function asJunit(run: EvalRun): string {
  const cases = run.cases.map((one) => {
    const open = `  <testcase name="${xml(one.name)}" classname="${one.caseId}" time="${(one.tookMs / 1000).toFixed(3)}"`;
    if (one.verdict === 'pass') return `${open}/>`;
    const tag = one.verdict === 'fail' ? 'failure' : 'error';
    return `${open}><${tag} message="${xml(whyNot(one))}"/></testcase>`;
  });
  const head = `<testsuite name="${xml(run.path)}" tests="${run.cases.length}" failures="${run.failed}" errors="${run.errors}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...cases, '</testsuite>', ''].join('\n');
}

/** Removes the characters that XML 1.0 does not allow and escapes the rest. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
