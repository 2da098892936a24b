// Maps errors of AI SDK packages to errors of a model call. They report the vendor's HTTP status and body; without a status, the request
// did not get through or the package refused it.

import { parseJson } from '../../../base/json.ts';
import { AppError } from '../../../contracts/errors.ts';
import { mapNetworkError } from '../network-errors.ts';
import { mapOpenAiFailure } from '../openai-errors.ts';
import { SdkStreamError } from './sdk-reader.ts';

export interface SdkFailure {
  readonly provider: string;
  readonly modelId: string;
  readonly package: string;
  /** Values that must never be shown. */
  readonly secrets: readonly string[];
  /** True if the answer had begun. */
  readonly hasAnswered: boolean;
  readonly nowMs: number;
}

type Fields = Readonly<Record<string, unknown>>;

export function mapSdkError(cause: unknown, about: SdkFailure): AppError {
  if (cause instanceof AppError) return cause;
  const isInStream = cause instanceof SdkStreamError;
  const error = Object(isInStream ? cause.error : cause) as Fields;
  const name = String(error['name']);
  if (/^AI_Load(APIKey|Setting)Error$/.test(name)) return lacksSetting(about.provider, error);
  const isFromHere = isInStream ? error instanceof Error && !name.startsWith('AI_') : !isRefusedHere(name);
  return isFromHere && !hasVendorSpoken(error) ? lost(cause, error, about) : refused(error, isInStream ? 200 : 400, about);
}

function lacksSetting(provider: string, error: Fields): AppError {
  return new AppError('model_auth', `${provider} lacks a key or a setting: ${String(error['message'])}`, {
    data: { provider },
    hint: `Add it to providers.${provider} in config.yaml: apiKey, or an entry of options.`,
    cause: error,
  });
}

function hasVendorSpoken({ statusCode, responseBody }: Fields): boolean {
  return responseBody !== undefined || (typeof statusCode === 'number' && statusCode >= 300);
}

/** Maps a lost connection. If there is a status, the connection broke after the answer had begun. */
function lost(cause: unknown, { url, statusCode }: Fields, { provider, package: name, hasAnswered }: SdkFailure): AppError {
  const origin = typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : name;
  return mapNetworkError(cause, { provider, origin, hasAnswered: hasAnswered || statusCode !== undefined });
}

function refused(error: Fields, otherwise: number, { provider, modelId, secrets, nowMs }: SdkFailure): AppError {
  const { statusCode, responseBody, responseHeaders, message } = error;
  const parsed = typeof responseBody === 'string' ? parseJson(responseBody) : null;
  const body = parsed?.ok === true ? parsed.value : (responseBody ?? (typeof message === 'string' ? message : error));
  const status = typeof statusCode === 'number' ? statusCode : otherwise;
  const headers = Object(responseHeaders ?? {}) as Record<string, string>;
  return mapOpenAiFailure({ provider, modelId, status, headers, body, secrets, nowMs });
}

/** Returns whether the package itself refused the request, so that nothing was sent. */
function isRefusedHere(name: string): boolean {
  return /^AI_(Unsupported|Invalid|NoSuch|TypeValidation|JSONParse)/.test(name);
}
