/** Answers whose bytes stay the same while the process runs: each form is made once and kept. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { entityTag, matchesEntityTag } from '../domain/entity-tag.ts';
import type { Exchange } from './exchange.ts';
import type { Headers, Reply } from './reply.ts';

/** In the order of preference. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;

type Encoding = (typeof ENCODINGS)[number];

/** Higher ones take a hundred times as long, for 10 % less. */
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
  /** Called once, for the first request; again only after it has failed. */
  load(): Promise<Buffer>;
  readonly headers?: Headers;
}

interface Form {
  readonly bytes: Buffer;
  readonly etag: string;
}

/**
 * Makes what answers requests for a content: compressed as the client accepts it, or 304 when the
 * client names the entity tag of that form.
 */
export function staticAnswer(content: StaticContent): (exchange: Exchange) => Promise<Reply> {
  const forms = new Map<Encoding, Promise<Form>>();
  const formIn = (encoding: Encoding): Promise<Form> => {
    const form = forms.get(encoding) ?? makeForm(content, encoding);
    forms.set(encoding, form);
    form.catch(() => forms.delete(encoding));
    return form;
  };
  return async ({ request }) => {
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    const { bytes, etag } = await formIn(encoding);
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

async function makeForm({ load }: StaticContent, encoding: Encoding): Promise<Form> {
  const bytes = await compressors[encoding](await load());
  return { bytes, etag: entityTag(bytes) };
}

/**
 * Reads `Accept-Encoding` (RFC 9110, section 12.5.3).
 * @returns the encoding with the highest weight; `identity` when the client accepts none of ours.
 */
function acceptedEncoding(header: string | undefined): Encoding {
  if (header === undefined) return 'identity';
  const weights = new Map(header.split(',').map(readWeight));
  const unnamed = weights.get('*') ?? 0;
  const weightOf = (encoding: Encoding): number => weights.get(encoding) ?? unnamed;
  const [best] = ENCODINGS.toSorted((one, other) => weightOf(other) - weightOf(one));
  return best !== undefined && weightOf(best) > 0 ? best : 'identity';
}

function readWeight(text: string): [name: string, weight: number] {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const parameter = parameters.find((one) => one.startsWith('q='));
  const weight = parameter === undefined ? 1 : Number(parameter.slice(2));
  return [name, weight >= 0 && weight <= 1 ? weight : 0];
}
