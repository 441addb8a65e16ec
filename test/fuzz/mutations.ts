/** The mutations of a legal request: each changes one part. */
import { createHmac } from 'node:crypto';
import {
  bodyWith,
  documentedBody,
  listFields,
  resolver,
  shapes,
} from '../api/http/hostile-bodies.ts';
import type { Chance } from '../simulation/chance.ts';
import { formBoundary, fieldPart, filePart } from '../support/forms.ts';
import { serializeBody, type Customer, type Draft, type Json } from './drafts.ts';

/** The input of a mutation. */
export interface MutationInput {
  readonly document: Json;
  readonly chance: Chance;
  /** A customer other than the sender of the request. */
  readonly stranger: Customer;
}

type Mutation = (draft: Draft, input: MutationInput) => void;

const strangeTexts = [
  ...'| |0|null|true|-1|1e3|[]|{}|__proto__|constructor|%00|$1|%s|../..|@|a@b|é|e\u0301|😀'.split(
    '|',
  ),
  ...'\0|a\0b|\ud800|\udfff\ud800|\u202eabc|\u200b|\ufeff|\u0085|\u001b[2J|a\r\nX-In: 1'.split('|'),
  ...'0000-00-00|2026-02-30|9999-12-31|+5511987654321|000.000.000-00|; drop table users'.split('|'),
  'a'.repeat(255),
  'ã'.repeat(256),
  '9'.repeat(400),
  '\u0301'.repeat(200),
];

/** JSON texts, with numbers that no double can represent. */
const literals = [
  ...'null true false [] {} [[]] [null] ["a","b"] {"":""} {"toString":1} {"length":-1}'.split(' '),
  ...'0 -0 -1 1 0.001 0.01 10.505 999999999.99 1e9 2147483648 9007199254740993 1e21 1e308'.split(
    ' ',
  ),
  ...'5e-324 -1e308 1e400 -1e400 0e0 1E+2 12345678901234567890 0.10000000000000000555'.split(' '),
  ...String.raw`1.0 100e-2 "\u0000" "" {"__proto__":{"admin":true}}`.split(' '),
];

const headerTexts = [
  ...'| |,|;|=|"|\\|é|\x7f|\x01|\t|*|0|-1|"a" , "b"|W/"x"|wait=0|wait=1|wait="1"|wait=-1'.split(
    '|',
  ),
  ...'pt;q=0.5,en;q=x|pt-BR|en;q=0|respond-async, wait=1|00-0-0-0|1.2.3.4, ::1, x|gzip'.split('|'),
  ...'identity|chunked|100-continue|bytes=0-1|close|upgrade|h2c|a b|k'.split('|'),
  'pt,'.repeat(500),
  `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  ...[128, 129, 5_000].map((length) => 'x'.repeat(length)),
];

const headers = [
  ...'Accept Accept-Language Accept-Encoding Authorization Connection Cookie Expect'.split(' '),
  ...'Content-Encoding Content-Type Forwarded Host Idempotency-Key If-Modified-Since'.split(' '),
  ...'If-None-Match Origin Prefer Range TE Trailer Upgrade X-Forwarded-For X-Request-Id'.split(' '),
  ...'X-Webhook-Secret traceparent tracestate webhook-id webhook-signature'.split(' '),
];

const types = [
  ...'|json|text/plain|application/json; charset=utf-16|application/json;charset="UTF-8"'.split(
    '|',
  ),
  ...'application/json, text/html|application/xml|APPLICATION/JSON|a/b;;;=;'.split('|'),
  ...'multipart/form-data|multipart/form-data; boundary=|text/html; charset'.split('|'),
  `multipart/form-data; boundary=${'b'.repeat(300)}`,
];

const methods = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND QUERY'.split(' ');

const pathSegments = [
  ...'|.|..|%2e%2e|%00|%|%zz|%ff|%2F|;x=1|*|~|%F0%9F%98%80|null|01310100'.split('|'),
  ...'00000000-0000-0000-0000-000000000000|3F0C1F8E-5D0B-4B5C-9A51-0F6F3C1F2A77'.split('|'),
  'urn:uuid:3f0c1f8e-5d0b-4b5c-9a51-0f6f3c1f2a77',
  'a'.repeat(300),
  '%61'.repeat(100),
];

const queries = [
  ...'? ?start_date=2026-05-01&end_date=2026-05-24 ?start_date=0000-01-01 ?a=%00 ?% #x'.split(' '),
  ...'?start_date=&end_date= ?start_date=2026-05-24&start_date=x ?end_date=9999-12-31'.split(' '),
  '?&&&',
  '?start_date[]=2026-05-01',
  '?__proto__=1',
  `?${'a=1&'.repeat(2_000)}`,
];

function drawn<T>(chance: Chance, list: readonly T[]): T {
  return list[chance.below(list.length)] as T;
}

/** Large values seldom reach the deeper checks, so most sizes are small. */
const sizes = [16, 64, 300, 2_000, 16_384, 65_536, 262_144] as const;

function setHeader(draft: Draft, name: string, value: string | null): void {
  draft.headers = draft.headers.filter(([known]) => known.toLowerCase() !== name.toLowerCase());
  if (value !== null) draft.headers.push([name, value]);
}

/** Later bytes on the connection would not belong to the next request. */
function closes(draft: Draft): void {
  if (draft.ending === 'keep') draft.ending = 'close';
}

/** A field of the body that the contract names. */
function field(draft: Draft, { document, chance }: MutationInput) {
  const { schema } = documentedBody(document, draft.operation.id);
  const fields = listFields(schema, resolver(document));
  return fields[chance.below(fields.length)] ?? { path: [], schema };
}

/** Replaces a field with a JSON text. */
function place(draft: Draft, path: readonly (string | number)[], literal: string): void {
  draft.raw = bodyWith(draft.json, { path }, { shape: () => literal, bytes: Infinity });
}

const ofJson: readonly Mutation[] = [
  function shape(draft, input) {
    const { chance } = input;
    const { path } = chance.happens(0.2) ? { path: ['unknown'] } : field(draft, input);
    const all = Object.values(shapes);
    const own = (serializeBody(draft) ?? '').length;
    const bytes = own + (chance.happens(0.2) ? chance.pick(sizes) : chance.between(16, 3_000));
    const made = all[chance.below(all.length)];
    if (made) draft.raw = bodyWith(draft.json, { path }, { shape: made, bytes });
  },
  function boundary(draft, input) {
    const { chance } = input;
    const { path, schema } = field(draft, input);
    const { minimum, maximum, maxLength, minLength, enum: listed } = schema;
    const near = [minimum, maximum].flatMap((n) =>
      typeof n === 'number' ? [n, n - 0.01, n + 0.01, n - 1, n + 1] : [],
    );
    const lengths = [minLength, maxLength].flatMap((n) =>
      typeof n === 'number' ? [n - 1, n, n + 1].map((size) => 'á'.repeat(Math.max(0, size))) : [],
    );
    const values = [...near, ...lengths, ...((listed as unknown[] | undefined) ?? []), '', 0];
    place(draft, path, JSON.stringify(drawn(chance, values)));
  },
  function text(draft, input) {
    place(draft, field(draft, input).path, JSON.stringify(drawn(input.chance, strangeTexts)));
  },
  function literal(draft, input) {
    place(draft, field(draft, input).path, drawn(input.chance, literals));
  },
  function without(draft, { chance }) {
    const entries = Object.entries((draft.json ?? {}) as Json);
    entries.splice(chance.below(entries.length), 1);
    draft.json = Object.fromEntries(entries);
  },
  function twice(draft, { chance }) {
    const own = JSON.stringify(draft.json ?? {});
    const [key = 'a'] = Object.keys(draft.json ?? {});
    const more = `,${JSON.stringify(key)}:${drawn(chance, literals)}}`;
    draft.raw = Buffer.from(own.replace(/\}$/, own === '{}' ? '}' : more));
  },
];

const ofBody: readonly Mutation[] = [
  function cut(draft, { chance }) {
    const body = serializeBody(draft) ?? Buffer.from('{}');
    draft.raw = body.subarray(0, chance.below(body.length + 1));
  },
  function appended(draft, { chance }) {
    const ends = ['}', ' ', '\0', '{"a":1}', '\ufeff', '\r\n\r\n', '//', ','] as const;
    draft.raw = Buffer.concat([
      serializeBody(draft) ?? Buffer.alloc(0),
      Buffer.from(chance.pick(ends)),
    ]);
  },
  function garbled(draft, { chance }) {
    const body = Buffer.from(serializeBody(draft) ?? 'x');
    for (let left = chance.between(1, 4); left > 0; left -= 1) {
      if (body.length > 0) body[chance.below(body.length)] = chance.below(256);
    }
    draft.raw = body;
  },
  function encoded(draft, { chance }) {
    const text = (serializeBody(draft) ?? Buffer.from('{}')).toString();
    draft.raw = chance.pick([
      Buffer.from(text, 'utf16le'),
      Buffer.from(`\ufeff${text}`),
      Buffer.from(text.replaceAll(/[a-z]/g, 'é'), 'latin1'),
    ]);
  },
  function fixedBody(draft, { chance }) {
    draft.raw = Buffer.from(chance.pick(['', ' ', 'null', '[]', '"a"', '0', '{', 'a=1&b=2', '{}']));
  },
  function wrongLength(draft, { chance }) {
    draft.raw = serializeBody(draft) ?? Buffer.from('{}');
    draft.lengthOff = chance.pick([-1, 1, 10, 300_000, -draft.raw.length]);
    // The service waits half a minute for the rest of a body.
    if (draft.lengthOff > 0) draft.ending = chance.pick(['half-close', 'break']);
    else closes(draft);
  },
  function chunked(draft, { chance }) {
    const body = serializeBody(draft) ?? Buffer.from('{}');
    const size = body.length.toString(16);
    const head = chance.pick([
      `${size}\r\n`,
      `${size};ext=1\r\n`,
      'zz\r\n',
      `+${size}\r\n`,
      '-1\r\n',
    ]);
    const last = chance.pick(['\r\n0\r\n\r\n', '\r\n0\r\nX-Late: 1\r\n\r\n', '0\r\n\r\n']);
    draft.raw = Buffer.concat([Buffer.from(head), body, Buffer.from(last)]);
    draft.lengthOff = chance.happens(0.2) ? 0 : null;
    draft.headers.push(['Transfer-Encoding', chance.pick(['chunked', 'Chunked', 'gzip, chunked'])]);
    draft.ending = 'half-close';
  },
  function gone(draft) {
    draft.ending = 'break';
  },
];

const ofForm: readonly Mutation[] = [
  function content(draft, { chance }) {
    const heads = ['%PDF-', '\x89PNG\r\n\x1a\n', '\xff\xd8\xff\xe0', 'MZ', '<svg>', ''] as const;
    const size = chance.pick([0, 1, 100, 5_000, 70_000, 200_000]);
    const bytes = Buffer.concat([Buffer.from(chance.pick(heads), 'latin1'), Buffer.alloc(size, 7)]);
    draft.parts = [fieldPart(String(chance.between(0, 22))), filePart(bytes)];
  },
  function fields(draft, { chance }) {
    const name = chance.pick(['tipo_documento', 'arquivo', '__proto__', '', 'x'.repeat(200)]);
    const value = chance.happens(0.1) ? 'y'.repeat(2_000) : drawn(chance, strangeTexts);
    const more = Array.from({ length: chance.pick([1, 1, 2, 12]) }, () => fieldPart(value, name));
    draft.parts = chance.happens(0.5) ? [...(draft.parts ?? []), ...more] : more;
  },
  function parted(draft, { chance }) {
    const text = (serializeBody(draft) ?? Buffer.alloc(0)).toString('latin1');
    const [from, to] = chance.pick([
      [`--${formBoundary}--`, `--${formBoundary}`],
      [formBoundary, `${formBoundary}x`],
      ['\r\n\r\n', '\n\n'],
      ['name="arquivo"', 'name=arquivo'],
      ['form-data', 'attachment'],
      ['filename="', `filename="${'f'.repeat(5_000)}`],
      ['Content-Disposition', 'Content-Transfer-Encoding: base64\r\nContent-Disposition'],
    ]);
    draft.raw = Buffer.from(text.replaceAll(from, to), 'latin1');
  },
];

const ofHead: readonly Mutation[] = [
  function header(draft, { chance }) {
    const name = drawn(chance, headers);
    const value = drawn(chance, headerTexts);
    const replaces = chance.happens(0.5);
    if (replaces) setHeader(draft, name, value);
    else draft.headers.push([name, value]);
    // Of two `Authorization`, Node keeps the first.
    const { access } = draft.operation;
    if (name === 'Authorization' && replaces) draft.isForged ||= access === 'token';
    if (name === 'X-Webhook-Secret') draft.isForged ||= access === 'secret';
    // The fuzzer does not wait for 100 Continue, and an upgraded connection is closed.
    if (name === 'Expect' || name === 'Connection' || name === 'Upgrade') closes(draft);
  },
  function manyHeaders(draft, { chance }) {
    const count = chance.pick([10, 90, 1_200, 4_000]);
    for (let n = 0; n < count; n += 1) draft.headers.push([`X-${n}`, 'y']);
    if (count > 1_000) closes(draft);
  },
  function type(draft, { chance }) {
    setHeader(draft, 'Content-Type', chance.happens(0.1) ? null : drawn(chance, types));
  },
  function host(draft, { chance }) {
    setHeader(draft, 'Host', chance.pick([null, '', 'a b', 'evil.example', '127.0.0.1:1', '[::1']));
    if (chance.happens(0.3)) draft.headers.push(['Host', 'other.example']);
    closes(draft);
  },
  function method(draft, { chance }) {
    draft.method = drawn(chance, methods);
    draft.isRouted = draft.method === draft.operation.method;
    closes(draft);
  },
  function segment(draft, { chance }) {
    const segments = draft.target.split('/');
    segments[chance.between(1, segments.length - 1)] = drawn(chance, pathSegments);
    draft.target = segments.join('/');
    draft.isRouted = false;
  },
  function query(draft, { chance }) {
    draft.target += drawn(chance, queries);
  },
];

function jwt(head: Json, payload: Json, key: string): string {
  const text = [head, payload].map((part) => encode(JSON.stringify(part))).join('.');
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function decoded(part: string | undefined): Json {
  return JSON.parse(Buffer.from(part ?? '', 'base64url').toString()) as Json;
}

/** Tokens without a valid signature. */
function forged(token: string, chance: Chance): string {
  const [head, payload, signature] = token.split('.');
  const claims = { ...decoded(payload), sub: '1', exp: 4_102_444_800 };
  const own = decoded(head);
  return chance.pick([
    `${head}.${payload}.`,
    `${head}.${encode(JSON.stringify(claims))}.${signature}`,
    `${encode(JSON.stringify({ ...own, alg: 'none' }))}.${payload}.`,
    jwt({ ...own, alg: 'HS256' }, claims, JSON.stringify(own)),
    jwt({ ...own, alg: 'RS256', kid: '../../dev/null' }, claims, ''),
    jwt({ ...own, jku: 'http://127.0.0.1/keys', jwk: { kty: 'oct', k: '' } }, claims, ''),
    `${head}.${payload}.${'A'.repeat(8_000)}`,
    `${head}..${signature}`,
    '',
    '.',
    '..',
    'a.b.c',
    'null',
    `${token}.${token}`,
    token.slice(0, -6),
  ]);
}

const ofToken: readonly Mutation[] = [
  function token(draft, { chance, stranger }) {
    setHeader(draft, 'Authorization', `Bearer ${forged(stranger.token, chance)}`);
    draft.isForged = true;
  },
  function scheme(draft, { chance, stranger: { token } }) {
    const texts = [`Basic ${token}`, token, `Bearer\t${token}`, `Bearer ${token}, x`] as const;
    setHeader(draft, 'Authorization', chance.happens(0.2) ? null : chance.pick(texts));
    draft.isForged = true;
  },
  function ofStranger(draft, { stranger }) {
    setHeader(draft, 'Authorization', `Bearer ${stranger.token}`);
    draft.isForged = false;
  },
];

function choices({ operation, json }: Draft): readonly (readonly Mutation[])[] {
  const { body, access } = operation;
  return [
    ofHead,
    ...(access === 'token' ? [ofToken] : []),
    ...(body?.form ? [ofForm, ofForm, ofBody] : []),
    ...(body && !body.form && json !== undefined ? [ofJson, ofJson, ofJson, ofBody] : []),
  ];
}

/** Applies none to three mutations to a request. */
export function mutate(draft: Draft, input: MutationInput): void {
  const { chance } = input;
  for (let left = chance.pick([0, 1, 1, 1, 1, 2, 2, 3]); left > 0; left -= 1) {
    const groups = choices(draft);
    const group = groups[chance.below(groups.length)] ?? ofHead;
    const mutation = group[chance.below(group.length)];
    mutation?.(draft, input);
    if (mutation) draft.mutations.push(mutation.name);
  }
}
