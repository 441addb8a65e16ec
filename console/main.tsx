/** The process of the console. `ponte console` starts it on a terminal, with a valid address. */
import { parseArgs } from 'node:util';
import { render } from 'ink';
import { Api } from './api.ts';
import { App } from './app.tsx';
import { operateBy } from './operate.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    // The command `ponte`, where it is configured for this service.
    operator: { type: 'string', default: '' },
    // The service is one for development: the login starts with the development user.
    development: { type: 'boolean', default: false },
  },
});
const { PROVIDER_EMAIL: email = '', PROVIDER_PASSWORD: password = '' } = process.env;

/** OSC 52: the terminal puts the text into its clipboard, also over SSH. */
function copy(text: string): void {
  process.stdout.write(`\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`);
}

const app = render(
  <App
    api={new Api(values.url)}
    operate={values.operator ? operateBy(values.operator) : null}
    login={values.development ? { email, password } : { email: '', password: '' }}
    hasColours={process.stdout.hasColors()}
    copy={copy}
  />,
  { alternateScreen: true, interactive: true, exitOnCtrlC: false },
);

/** Restores the terminal first, so that the message and the start of the stack are seen. */
function fail(error: unknown): never {
  app.unmount();
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const lines = ['The console has failed; this is a defect of it.', ...text.split('\n')];
  process.stderr.write(lines.slice(0, 8).join('\n').concat('\n'));
  process.exit(1);
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
await app.waitUntilExit().catch(fail);
process.exit(0);
