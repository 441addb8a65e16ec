import type { Describe } from '../frame.ts';

/** What stands in for the outside while Ponte, or an app on it, is developed. */
export const describeDevelopment: Describe = ({ program, action }) => {
  program
    .command('provider-sandbox')
    .description("serve a simulated bank behind the provider's HTTP paths, with faults on demand")
    .option('--host <address>', 'listening address', '127.0.0.1')
    .option('--port <number>', 'listening port; 0 takes any free one', '9090')
    .option('--faults <rules>', 'what goes wrong, such as payments:5xx-after@0.1')
    .option('--seed <text>', 'what chance is drawn from: the same seed, the same faults', '1')
    .option('--webhook-url <address>', 'where the webhooks are posted')
    .option(
      '--settle-ms <number>',
      'milliseconds from a payment to its webhook; 0: only when it is told to',
      '1500',
    )
    .option('--no-onboarding', 'answer 404 to /core/v2/onboarding, as the hosts that were tried')
    .option('--data <folder>', 'keep its state there; otherwise in memory')
    .addHelpText('after', sandboxExample)
    .action(action(async () => (await import('../commands/provider-sandbox.ts')).providerSandbox));
};

const sandboxExample = `
Example: a provider that loses one payment in ten, and the service on it
  ponte provider-sandbox --faults 'payments:5xx-after@0.1,keys/dict:latency=200ms@0.5' \\
    --webhook-url http://127.0.0.1:3000/api/v1/webhooks/provider
  APP_ENV=local PROVIDER_STUB=false PROVIDER_BASE_URL=http://127.0.0.1:9090 ponte serve

X-Webhook-Secret is WEBHOOK_SECRET of the environment, or the content of WEBHOOK_SECRET_FILE: the
arguments of a process are shown to every user of the machine.

The values that make it misbehave are listed when it starts; while it runs,
http://127.0.0.1:9090/sandbox lists the rules of --faults and what it can be told to do.`;
