import { examples, jsonOption } from '../declare.ts';
import type { Describe } from '../frame.ts';

/** What looks and changes nothing: `doctor`, `config`, `contract`, `request-id`. */
export const describeChecks: Describe = (frame) => {
  describeDoctor(frame);
  describeConfig(frame);
  describeContract(frame);
  describeRequestId(frame);
};

const describeDoctor: Describe = ({ program, action }) => {
  program
    .command('doctor')
    .description(
      'look at all that Ponte needs and what waits, and say what to do; exit 1 when it is bad',
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte doctor', 'ponte doctor --json'))
    .action(action(async () => (await import('../commands/doctor.ts')).doctor));
};

const describeConfig: Describe = ({ program, action }) => {
  const config = program
    .command('config')
    .description('the settings')
    .addHelpText('after', examples('ponte config check'));

  config
    .command('check')
    .description('show the settings in effect, secrets hidden; exit 2 when one is at fault')
    .addOption(jsonOption())
    .addHelpText('after', examples('APP_ENV=production ponte config check'))
    .action(action(async () => (await import('../commands/config-check.ts')).configCheck));
};

const describeContract: Describe = ({ program, action }) => {
  const contract = program
    .command('contract')
    .description('the machine-readable contract of the API')
    .addHelpText('after', examples('ponte contract print > openapi.yaml'));

  contract
    .command('print')
    .description('print the contract as YAML')
    .option('--json', 'print it as JSON')
    .addHelpText('after', examples('ponte contract print --json'))
    .action(action(async () => (await import('../commands/contract.ts')).contractPrint));

  contract
    .command('check')
    .description('check that the contract can be read and every operation is there; exit 1 if not')
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte contract check'))
    .action(action(async () => (await import('../commands/contract.ts')).contractCheck));
};

const describeRequestId: Describe = ({ program, action }) => {
  program
    .command('request-id')
    .description('print what the log has for an X-Request-Id or a trace id that a client has sent')
    .argument('<id>', 'as the client has sent it')
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte request-id 8f14e45f'))
    .action(action(async () => (await import('../commands/request-id.ts')).requestId));
};
