import { expect, test } from 'vitest';
import type { EvalCase, EvalRun } from '../../contracts/features/evals.ts';
import { exportRun } from './exports.ts';
import { rateOf } from './statistics.ts';

const odd = 'a <b> & "q" ]]> \u0000\u0001\u000b\ufffe\ud800 \n\t ü 😀';

function one(verdict: EvalCase['verdict']): EvalCase {
  const checks = verdict === 'fail' ? [{ type: 'contains', pass: false, reason: odd }] : [];
  const figures = { repeat: 0, requests: 0, cached: false, tookMs: 12.5, costUsd: null, tokens: 1 };
  const error = verdict === 'error' ? { error: odd } : {};
  return { caseId: verdict, name: odd, verdict, checks, text: '', calls: [], ...figures, ...error };
}

const cases = [one('pass'), one('fail'), one('error')];
const run: EvalRun = {
  runId: 'evl_1',
  path: odd,
  model: 'lab/m',
  startedAtMs: 0,
  finished: true,
  running: false,
  planned: 3,
  requests: 0,
  cached: 0,
  costUsd: null,
  passed: 1,
  failed: 1,
  errors: 1,
  rate: rateOf(cases),
  cases,
};

test('exports well-formed JUnit XML for any text of a case', () => {
  const text = exportRun(run, 'junit');
  // Only the characters that XML 1.0 allows, and no quotes within a value.
  expect(text).toMatch(/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u);
  const plain = text.replaceAll(/ [a-z]+="[^"<]*"/g, '').replaceAll(/^<\?xml.*\?>\n/g, '');
  expect(plain.replaceAll(/\s/g, '')).toBe(
    '<testsuite><testcase/><testcase><failure/></testcase><testcase><error/></testcase></testsuite>',
  );
  expect(text.replaceAll(/&(?:amp|lt|gt|quot|#10);/g, '')).not.toContain('&');
});

test('one is singular in the first line, and an amount below a cent is not zero', () => {
  const [head = ''] = exportRun({ ...run, requests: 1, costUsd: 0.0007 }, 'text').split('\n');
  expect(head).toContain('1 passed, 1 failed, 1 error. ');
  expect(head).toMatch(/ 1 request, 0 from the cache\. Cost: \$0\.0007\.$/);
});

test('exports the run as JSON and one Markdown row per case', () => {
  expect(JSON.parse(exportRun(run, 'json'))).toEqual({ ...run, cases: JSON.parse(JSON.stringify(cases)) as unknown });
  expect(
    exportRun(run, 'markdown')
      .split('\n')
      .filter((line) => line.startsWith('| ')).length,
  ).toBe(2 + cases.length);
});
