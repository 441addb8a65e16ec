/** The last request to the service and its response, for a person who wants to repeat it. */
import { wrapLines, type Line } from './text.ts';

export interface Exchange {
  readonly method: string;
  readonly url: string;
  /** Without the access token, which is not shown. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; null without a body, and for a form. */
  readonly body: string | null;
  /** Null without a response. */
  readonly status: number | null;
  readonly response: unknown;
}

/** Replaces the passwords in a body by asterisks. */
export function withoutPasswords(body: string): string {
  const hide = (name: string, value: unknown): unknown =>
    name.startsWith('password') && typeof value === 'string' ? '***' : value;
  return JSON.stringify(JSON.parse(body, hide));
}

/** The request as a curl command; `$token` stands for the access token. */
export function curlCommand({ method, url, headers, body }: Exchange): string {
  const parts = [
    `curl -i -X ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) =>
      name === 'authorization'
        ? '-H "Authorization: Bearer $token"'
        : `-H ${quoted(`${name}: ${value}`)}`,
    ),
    ...(body === null ? [] : [`-d ${quoted(body)}`]),
  ];
  return parts.join(' \\\n  ');
}

/** Quotes a text for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The request as a curl command, and the response. */
export function exchangeLines(exchange: Exchange, columns: number): Line[] {
  const { status, response } = exchange;
  const text = response === undefined ? '' : JSON.stringify(response, shorten, 2);
  return [
    ...wrapLines(curlCommand(exchange), columns, 'strong'),
    { text: '' },
    ...wrapLines(status === null ? 'no response' : String(status), columns, chooseColour(status)),
    ...wrapLines(text, columns),
  ];
}

/** Longer than every text for a person; an image is not. */
const longest = 300;

function shorten(_name: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= longest) return value;
  return `${value.slice(0, 40)}… (${value.length} characters)`;
}

function chooseColour(status: number | null): 'good' | 'bad' {
  return status !== null && status < 400 ? 'good' : 'bad';
}
