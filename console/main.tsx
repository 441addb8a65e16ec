/** The process of the console. `ponte console` starts it, on a terminal, with a checked address. */
import { parseArgs } from 'node:util';
import { render } from 'ink';
import { Api } from './api.ts';
import { App } from './app.tsx';
import { operate } from './operate.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    // The service is the one that the command on this machine works on.
    operator: { type: 'boolean', default: false },
    // The service is one for development: the login begins with the development user.
    development: { type: 'boolean', default: false },
  },
});
const { PROVIDER_EMAIL: email = '', PROVIDER_PASSWORD: password = '' } = process.env;

const app = render(
  <App
    api={new Api(values.url)}
    operate={values.operator ? operate : null}
    login={values.development ? { email, password } : { email: '', password: '' }}
    hasColours={process.stdout.hasColors()}
  />,
  { alternateScreen: true, interactive: true },
);

/** Of a stack its beginning says where to look. */
const mostLines = 8;

/** First the terminal is given back, so that the words are seen. */
function fail(error: unknown): never {
  app.unmount();
  const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const lines = ['The console has failed; this is a defect of it.', ...words.split('\n')];
  process.stderr.write(lines.slice(0, mostLines).join('\n').concat('\n'));
  process.exit(1);
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
await app.waitUntilExit().catch(fail);
process.exit(0);
