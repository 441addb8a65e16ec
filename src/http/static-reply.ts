/** Serves static content; each compressed variant is created once and kept in memory. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { entityTag, matchesEntityTag } from '../domain/entity-tag.ts';
import type { Exchange } from './exchange.ts';
import { preferredEncoding } from './negotiation.ts';
import type { Headers, Reply } from './reply.ts';

/** In the order of preference. */
const encodings = ['br', 'gzip', 'identity'] as const;

type Encoding = (typeof encodings)[number];

/** Higher qualities take a hundred times as long and save 10 %. */
const brotliQuality = 6;

const compressors: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: promisify(gzip),
  identity: (bytes) => Promise.resolve(bytes),
};

export interface StaticContent {
  readonly type: string;
  /** Called for the first request of each encoding, and again only after a failure. */
  load(): Promise<Buffer>;
  readonly headers?: Headers;
}

interface Variant {
  readonly bytes: Buffer;
  readonly etag: string;
}

/**
 * Creates a handler that replies with the content in an encoding that the client accepts, or with
 * 304 when `If-None-Match` has the entity tag of that variant.
 */
export function staticReply(content: StaticContent): (exchange: Exchange) => Promise<Reply> {
  const variants = new Map<Encoding, Promise<Variant>>();
  const variantFor = (encoding: Encoding): Promise<Variant> => {
    const variant = variants.get(encoding) ?? makeVariant(content, encoding);
    variants.set(encoding, variant);
    variant.catch(() => variants.delete(encoding));
    return variant;
  };
  return async ({ request }) => {
    const accepted = request.headers['accept-encoding'] ?? 'identity';
    const encoding = preferredEncoding(accepted, encodings) ?? 'identity';
    const { bytes, etag } = await variantFor(encoding);
    const headers = { ...content.headers, ETag: etag, Vary: 'Accept-Encoding' };
    if (matchesEntityTag(request.headers['if-none-match'], etag)) {
      return { status: 304, headers, content: null };
    }
    return {
      status: 200,
      headers: encoding === 'identity' ? headers : { ...headers, 'Content-Encoding': encoding },
      content: { type: content.type, bytes },
    };
  };
}

async function makeVariant({ load }: StaticContent, encoding: Encoding): Promise<Variant> {
  const bytes = await compressors[encoding](await load());
  return { bytes, etag: entityTag(bytes) };
}
