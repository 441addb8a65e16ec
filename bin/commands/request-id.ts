/** `ponte request-id`: the digest by which the log shows a client's request id. */
import { InvalidArgumentError } from 'commander';
import type { Context, Declare } from '../context.ts';
import { examples, withJson, type JsonOption } from '../options.ts';

export const declare: Declare = (noun, run) => {
  withJson(noun)
    .argument('<id>', 'an X-Request-Id or a trace id, as the client sent it', parseId)
    .addHelpText('after', examples('ponte request-id 8f14e45f'))
    .action(run(printDigest));
};

/** The service makes an id of its own in place of any other text: no line has its digest. */
function parseId(typed: string): string {
  const id = typed.trim();
  if (/^[!-~]{1,128}$/.test(id)) return id;
  throw new InvalidArgumentError('It must be 1 to 128 visible ASCII characters.');
}

async function printDigest({ call, terminal }: Context, id: string, options: JsonOption) {
  const { digest } = await call('request-id', { id });
  terminal.result({ digest }, options, digest);
}
