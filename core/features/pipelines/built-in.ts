// The built-in pipelines. Plain data, in the form of a pipeline file.

import { pipelineFileSchema, type PipelineFile } from '../../contracts/features/pipelines.ts';

const files: Readonly<Record<string, object>> = {
  research: {
    description: 'Plans, searches and calculates, writes with citations, and is reviewed.',
    nodes: {
      plan: {
        ask: 'Someone asks:\n{{input}}\n\nWhat is needed to answer it well? Say RESEARCH if facts must be looked up, CALCULATE if something must be calculated, or both. Then list the questions to settle, one a line. Do not answer yet.',
        tools: [],
        steps: 2,
      },
      research: {
        ask: 'Settle these questions with what you find, and read the pages you rely on:\n{{plan}}\n\nThey belong to: {{input}}\n\nReport each finding with the address of the page it is on and the words there that say it.',
        when: { node: 'plan', contains: 'RESEARCH' },
        tools: ['web_search', 'web_fetch', 'knowledge_search', 'read_file', 'grep', 'glob', 'list_dir'],
        steps: 20,
      },
      calculate: {
        ask: 'Calculate what this needs, with the calculator:\n{{input}}\n\nThe plan:\n{{plan}}\n\nReport each result with how it comes about.',
        when: { node: 'plan', contains: 'CALCULATE' },
        tools: ['calc'],
        steps: 10,
      },
      write: {
        ask: 'Answer this:\n{{input}}\n\nFindings:\n{{research}}\n\nCalculations:\n{{calculate}}\n\nUse nothing else. After each claim that comes from a page, give the address of the page in brackets. Say what stays open. Write the answer only.',
        after: ['plan', 'research', 'calculate'],
        tools: [],
        steps: 2,
      },
      review: {
        review: 'write',
        citations: true,
        rubric: '- It answers what was asked\n- It does not contradict itself',
        least: 0.75,
        redo: ['research', 'write'],
        times: 1,
      },
    },
    output: 'write',
  },
};

export const builtInNames = Object.keys(files);

export function builtInPipeline(name: string): PipelineFile | null {
  return Object.hasOwn(files, name) ? pipelineFileSchema.parse(files[name]) : null;
}
