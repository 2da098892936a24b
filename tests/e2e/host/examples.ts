// Fixed content of the development host: models, checks, one artifact, and finished turns of an earlier session.

import type { OpResult } from '../../../core/contracts/ops.ts';
import type { EventLog } from './event-log.ts';

export const exampleModels = [
  { ref: 'ollama/qwen3:8b', provider: 'ollama', kind: 'ollama', isDefault: true, source: 'found at 127.0.0.1:11434' },
  { ref: 'demo/offline', provider: 'demo', kind: 'demo', isDefault: false, source: 'built in' },
] as const satisfies OpResult<'model.list'>['models'];

export const exampleChecks: OpResult<'health.check'>['checks'] = [
  { id: 'storage', ok: true, detail: 'The database answers; 42 MB, no damage found.' },
  { id: 'model', ok: true, detail: 'ollama/qwen3:8b answers in 90 ms.' },
  { id: 'keychain', ok: false, detail: 'No keychain was found on this machine.', fix: 'Use env:NAME or file:PATH in config.yaml.' },
];

export const artifactText = 'line one\nline two with a hidden \u200b space\n';

export const exampleArtifact: OpResult<'artifact.list'>['artifacts'][number] = {
  sha256: 'a'.repeat(64),
  name: 'output.txt',
  mediaType: 'text/plain',
  sizeBytes: artifactText.length,
  aliases: [],
  createdAtMs: Date.UTC(2026, 2, 14, 9, 30),
  sessionId: null,
};

const usage = { inputTokens: 900, outputTokens: 80, cachedInputTokens: 0 };

export function addHistory(log: EventLog, sessionId: string, turns: number): void {
  const startMs = Date.now() - (turns + 2) * 60_000;
  for (let index = 1; index <= turns; index++) {
    const turnId = `trn_history_${index}`;
    const atMs = startMs + index * 60_000;
    const message = { text: `Question ${index}`, channel: 'window', sender: 'person', dedupeKey: null };
    log.append(sessionId, { type: 'user.message', turnId, body: message }, atMs);
    const limits = { steps: 50, turnMs: 3_600_000, sameCall: 3, parallelReads: 8 };
    const started = { kind: 'chat' as const, agentId: 'main', model: exampleModels[0].ref, limits, calls: [] };
    log.append(sessionId, { type: 'turn.started', turnId, phase: 'interpret', body: started }, atMs);
    const text = `Answer ${index}.\n\n- first point\n- second point with \`code\`\n`;
    log.append(sessionId, { type: 'assistant.message', turnId, phase: 'respond', body: { text } }, atMs + 900);
    const finished = { status: 'done' as const, text, error: null, usage, costUsd: 0.001, modelCalls: 1, toolCalls: 0 };
    log.append(sessionId, { type: 'turn.finished', turnId, phase: 'respond', body: finished }, atMs + 1000);
  }
}
