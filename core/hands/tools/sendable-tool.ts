// Converts a tool to the form that every model server accepts, and its arguments back.

import * as z from 'zod';
import { joined } from '../../base/schema-reading.ts';
import { cutDescription, sendableSchema, type SendableSchema } from '../../base/sendable-schema.ts';
import type { ToolSchema } from '../../contracts/llm.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';

export interface SendableTool {
  readonly schema: ToolSchema;
  readonly fromModel: SendableSchema['fromModel'];
}

export function sendableTool({
  name,
  description,
  input,
  schema,
}: Pick<ToolDefinition, 'name' | 'description' | 'input' | 'schema'>): SendableTool {
  const { parameters, note, fromModel } = sendableSchema(schema ?? z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }));
  return { schema: { name, description: cutDescription(joined([description, note])), parameters: { ...parameters } }, fromModel };
}
