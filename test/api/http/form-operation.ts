/** The small contract's upload as an operation that receives the form, and its record of it. */
import type { TestContext } from 'node:test';
import type { FileConsumer, Form } from '../../../src/context/operation.ts';
import { formType, makeForm, type Part } from '../../support/forms.ts';
import { call, startWire, type WireResponse, type Wire } from './wire.ts';

export interface Taken {
  /** How many bytes of the file have come so far. */
  bytes: number;
  /** What came of the file, or null when there was none. */
  content: Buffer | null;
  fields: unknown;
  /** What the form's reading was refused with. */
  error: unknown;
}

export interface FormWire extends Wire {
  readonly taken: Taken;
}

export const maxFormFileBytes = 300_000;

/** Starts a server whose upload takes a form and notes what it gets. */
export async function startFormWire(
  t: TestContext,
  take?: FileConsumer<unknown>,
): Promise<FormWire> {
  const taken: Taken = { bytes: 0, content: null, fields: null, error: null };
  const keep: FileConsumer<void> = async (content) => {
    const chunks: Buffer[] = [];
    for await (const chunk of content) {
      taken.bytes += chunk.length;
      chunks.push(chunk);
    }
    taken.content = Buffer.concat(chunks);
  };
  const wire = await startWire(t, {
    config: { uploadMaxBytes: maxFormFileBytes },
    runs: {
      async upload({ input }) {
        try {
          const received = await (input.body as Form<unknown>).receive(take ?? keep);
          taken.fields = received.fields;
        } catch (error) {
          taken.error = error;
          throw error;
        }
      },
    },
  });
  return { ...wire, taken };
}

/** Sends a form. */
export function upload(wire: Wire, ...parts: readonly Part[]): Promise<WireResponse> {
  return sendForm(wire, makeForm(...parts));
}

/** Sends the bytes of a form, well-formed or not. */
export function sendForm(
  wire: Wire,
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<WireResponse> {
  const type = { 'Content-Type': formType };
  return call(wire, {
    method: 'POST',
    path: '/api/v1/files',
    headers: { ...type, ...headers },
    body,
  });
}

/** The head of an upload on a connection of the test's own. */
export function uploadHead(...headers: readonly string[]): string {
  const lines = ['POST /api/v1/files HTTP/1.1', 'Host: x', `Content-Type: ${formType}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
