/** Serves static content; each compressed variant is created once and kept in memory. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { entityTag, matchesEntityTag } from '../domain/entity-tag.ts';
import type { Exchange } from './exchange.ts';
import type { Headers, Reply } from './reply.ts';

/** In the order of preference. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;

type Encoding = (typeof ENCODINGS)[number];

/** Higher qualities take a hundred times as long and save 10 %. */
const BROTLI_QUALITY = 6;

const compressors: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
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
export function staticAnswer(content: StaticContent): (exchange: Exchange) => Promise<Reply> {
  const variants = new Map<Encoding, Promise<Variant>>();
  const variantFor = (encoding: Encoding): Promise<Variant> => {
    const variant = variants.get(encoding) ?? makeVariant(content, encoding);
    variants.set(encoding, variant);
    variant.catch(() => variants.delete(encoding));
    return variant;
  };
  return async ({ request }) => {
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
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

/**
 * Reads `Accept-Encoding` (RFC 9110, section 12.5.3).
 * @returns the supported encoding with the highest weight; `identity` when there is none.
 */
function acceptedEncoding(header: string | undefined): Encoding {
  if (header === undefined) return 'identity';
  const weights = new Map(header.split(',').map(readWeight));
  const unnamed = weights.get('*') ?? 0;
  const weight = (encoding: Encoding): number => weights.get(encoding) ?? unnamed;
  const [best] = ENCODINGS.toSorted((one, other) => weight(other) - weight(one));
  return best !== undefined && weight(best) > 0 ? best : 'identity';
}

function readWeight(text: string): [name: string, weight: number] {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const parameter = parameters.find((one) => one.startsWith('q='));
  const weight = parameter === undefined ? 1 : Number(parameter.slice(2));
  return [name, weight >= 0 && weight <= 1 ? weight : 0];
}
