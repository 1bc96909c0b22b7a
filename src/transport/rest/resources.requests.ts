import { AppError } from '../../common/app-error.js';
import type { ResourceInput } from '../../runs/runs.types.js';
import type { ResourceInputDto } from './resource.dto.js';

const BASE64 = /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/;

/** A picture of a message as a service takes it; `index` is its place in the message, for the error. */
export function toResourceInput(dto: ResourceInputDto, index: number): ResourceInput {
  const named = dto.resource_id !== undefined ? { resourceId: dto.resource_id } : {};
  const at = `resources[${index}]`;
  if (dto.url !== undefined && dto.data !== undefined) throw refuse(`${at} has both url and data`);
  if (dto.url !== undefined) {
    checkSourceType(dto, 'url', at);
    return { kind: 'url', ...named, url: dto.url };
  }
  if (dto.data !== undefined) {
    checkSourceType(dto, 'base64', at);
    const bytes = fromBase64(dto.data, `${at}.data`);
    return { kind: 'bytes', ...named, bytes, ...(dto.mime_type !== undefined && { mimeType: dto.mime_type }) };
  }
  if (dto.resource_id === undefined) throw refuse(`${at} needs url, data or resource_id`);
  // A picture used before keeps the source_type of its first use, which only the store knows.
  return { kind: 'stored', resourceId: dto.resource_id, sourceType: dto.source_type };
}

/**
 * The bytes of a base64 text: standard or URL-safe alphabet, padding optional.
 * @throws AppError `RESOURCE_INVALID` for blanks, a `data:` prefix and every other character
 */
export function fromBase64(text: string, name: string): Buffer {
  if (text.startsWith('data:')) throw refuse(`${name} must be base64 without the data: prefix`);
  const digits = text.replace(/=+$/, '').length;
  const isPaddedRight = digits === text.length || text.length % 4 === 0;
  if (!BASE64.test(text) || digits % 4 === 1 || !isPaddedRight) {
    throw refuse(`${name} must be base64, standard or URL-safe, without blanks`);
  }
  return Buffer.from(text, 'base64');
}

function checkSourceType(dto: ResourceInputDto, expected: 'url' | 'base64', at: string): void {
  if (dto.source_type === undefined || dto.source_type === expected) return;
  throw refuse(`${at}.source_type is ${dto.source_type}, but what it holds is ${expected}`);
}

function refuse(message: string): AppError {
  return new AppError('RESOURCE_INVALID', message);
}
