/** Gives an op the provider: that of the service which runs it, or one of its own. */
import type { Context, LocalContext } from '../context/context.ts';
import type { Provider } from '../provider/provider.ts';

/**
 * Runs work that calls the provider.
 * @param work receives null where only the service can reach the simulated bank.
 */
export async function withProvider<Result>(
  context: LocalContext,
  work: (provider: Provider | null) => Promise<Result>,
): Promise<Result> {
  if (isOfService(context)) return work(context.provider);
  const { config, clock, log, dialects, stopping: shutdown } = context;
  if (config.provider.stub) return work(null);
  const [{ composeProvider }, { createMetrics }] = await Promise.all([
    import('../provider/compose.ts'),
    import('../telemetry/metrics.ts'),
  ]);
  const { provider, close } = await composeProvider({
    config,
    clock,
    log,
    metrics: createMetrics(),
    tracing: null,
    shutdown,
    dialects,
    service: null,
  });
  try {
    return await work(provider);
  } finally {
    await close();
  }
}

function isOfService(context: LocalContext | Context): context is Context {
  return 'provider' in context;
}
