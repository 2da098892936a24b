// The agent card, which describes this agent to agents on other machines. Plain data in the form of the protocol. It names only the agents
// that the reader may use.

import { extensionUri } from './carried.ts';

export interface CardAgent {
  readonly agentId: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
}

export const A2A_VERSION = '1.0';

/** `origin` is the address at which the reader reached the door. */
export function cardOf(origin: string, agents: readonly CardAgent[], version: string) {
  return {
    name: 'TrayClaw',
    description: 'A local-first agent on the computer of its user, who approves what is risky.',
    supportedInterfaces: [{ url: `${origin}${a2aPath}`, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: A2A_VERSION }],
    version,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        {
          uri: extensionUri,
          description: 'Carries the machines a task came through and its budget. A known message id meets the same task again.',
          required: false,
        },
      ],
    },
    securitySchemes: {
      door: { httpAuthSecurityScheme: { description: 'A door token of TrayClaw', scheme: 'Bearer', bearerFormat: '' } },
    },
    securityRequirements: [{ schemes: { door: { list: [] } } }],
    defaultInputModes: ['text/plain', 'application/json', 'application/octet-stream'],
    defaultOutputModes: ['text/plain'],
    skills: agents.map(({ agentId, name, description, capabilities }) => ({
      id: agentId,
      name,
      description: description === '' ? 'Answers and works with the tools of this computer.' : description,
      tags: capabilities.length === 0 ? ['agent'] : [...capabilities],
      examples: [],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    })),
  };
}

/**
 * The card with the fields that readers of revision 0.3 and before need. A reader that names no revision may be of any: the newer ones skip
 * fields they do not know.
 */
export function earlierCardOf(card: ReturnType<typeof cardOf>): object {
  const { door } = card.securitySchemes;
  return {
    ...card,
    protocolVersion: '0.3.0',
    url: card.supportedInterfaces[0]?.url,
    preferredTransport: 'JSONRPC',
    supportsAuthenticatedExtendedCard: false,
    securitySchemes: { door: { type: 'http', scheme: 'Bearer', description: door.httpAuthSecurityScheme.description, ...door } },
    security: [{ door: [] }],
  };
}

export const cardPath = '/.well-known/agent-card.json';
/** Where readers of revisions before 0.3 look for it. */
export const firstCardPath = '/.well-known/agent.json';
export const a2aPath = '/a2a';
