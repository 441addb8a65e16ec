/** The reference servers on a free port. */
import { createReference, type ReferenceSettings } from './app.ts';
import { createGrouped } from './grouped/app.ts';
import { least } from './grouped/least.ts';
import { plainRows } from './grouped/statements.ts';

/** The plain server, and the grouped one: with the same rows, and with the fewest. */
export const referenceNames = ['plain', 'grouped', 'least'] as const;

export type ReferenceName = (typeof referenceNames)[number];

export interface ListeningReference {
  readonly url: string;
  close(): Promise<void>;
}

export async function listen(
  name: ReferenceName,
  settings: ReferenceSettings,
): Promise<ListeningReference> {
  if (name === 'plain') {
    const app = await createReference(settings);
    return { url: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() };
  }
  const { server, close } = createGrouped(settings, name === 'least' ? least : plainRows);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, close };
}
