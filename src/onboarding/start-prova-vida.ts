import { startProvaVida as start } from './prova-vida.ts';
import { applicationReply } from './application-reply.ts';
import type { PublicOperation } from '../http/operation.ts';

/** Opens the proof-of-life session, or returns the open one. */
export const startProvaVida: PublicOperation<'startProvaVida'> = {
  access: 'public',
  async run(context, { input, request }) {
    const { application, urlIframe } = await start(
      context,
      { ...input.path, clientAddress: request.clientAddress },
      request.callOptions,
    );
    return {
      status: 202,
      body: { application: applicationReply(application), url_iframe: urlIframe },
    };
  },
};
