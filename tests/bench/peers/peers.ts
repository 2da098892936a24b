// The peers TrayClaw is compared with, and the packages each one needs.

import type { OpenSubject } from '../subjects/subject.ts';
import { aiSdkPackages, openGenerateText, openStreamText } from './ai-sdk.ts';
import { openFloor } from './floor.ts';
import { langGraphPackages, openLangGraph } from './langgraph.ts';
import type { PeerPackages } from './peer-folder.ts';
import { openStrands, strandsPackages } from './strands.ts';

export interface Peer {
  readonly id: string;
  /** Includes the version, and whether it stores anything on disk. */
  readonly label: string;
  readonly packages: PeerPackages | null;
  readonly open: OpenSubject;
}

export const peers: readonly Peer[] = [
  { id: 'ai-sdk-generate', label: 'AI SDK 7.0.173 generateText (memory)', packages: aiSdkPackages, open: openGenerateText },
  { id: 'ai-sdk-stream', label: 'AI SDK 7.0.173 streamText (memory)', packages: aiSdkPackages, open: openStreamText },
  { id: 'strands', label: 'Strands 1.19.0 (files, no sync)', packages: strandsPackages, open: openStrands },
  { id: 'langgraph', label: 'LangGraph 1.7.3 (SQLite saver)', packages: langGraphPackages, open: openLangGraph },
  { id: 'floor', label: 'floor (SQLite NORMAL)', packages: null, open: openFloor },
];
