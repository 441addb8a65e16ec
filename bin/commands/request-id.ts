/** `ponte request-id`: the digest by which the log shows a client's request id. */
import type { Context, Declare } from '../context.ts';
import { examples, withJson, type JsonOption } from '../options.ts';

export const declare: Declare = (noun, run) => {
  withJson(noun)
    .argument('<id>', 'an X-Request-Id or a trace id, as the client sent it')
    .addHelpText('after', examples('ponte request-id 8f14e45f'))
    .action(run(printDigest));
};

async function printDigest({ call, terminal }: Context, id: string, options: JsonOption) {
  const { digest } = await call('request-id', { id });
  terminal.result({ digest }, options, digest);
}
