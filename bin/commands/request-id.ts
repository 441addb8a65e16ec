/** `ponte request-id`: finds the lines of a client's request in the log. */
import type { Desk } from '../desk.ts';

/** Prints what the log has in place of an id. */
export async function requestId(
  { run, terminal }: Desk,
  id: string,
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  const { digest } = await run('request-id', { id });
  if (json) terminal.json({ digest });
  else terminal.print(digest);
}
