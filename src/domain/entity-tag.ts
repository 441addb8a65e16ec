/** Entity tags, which save sending what the client has already (RFC 9110, section 8.8.3). */
import { hash } from 'node:crypto';

/** @returns a strong tag, with its quotes. */
export function entityTag(content: string | Buffer): string {
  return `"${hash('sha256', content, 'base64url').slice(0, 22)}"`;
}

/** RFC 9110, section 13.1.2: `*` or a list of tags, compared without regard to weakness. */
export function matchesEntityTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}
