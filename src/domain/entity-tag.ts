/** Entity tags, with which a client revalidates its cached response (RFC 9110, section 8.8.3). */
import { hash } from 'node:crypto';

/** @returns a strong tag, with its quotes. */
export function entityTag(content: string | Buffer): string {
  return `"${hash('sha256', content, 'base64url').slice(0, 22)}"`;
}

/** Evaluates `If-None-Match` with weak comparison (RFC 9110, section 13.1.2). */
export function matchesEntityTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}
