/** Consoles at which somebody is logged in. */
import type { TestApp } from '../support/app.ts';
import { password, type TestUser } from '../support/factories.ts';
import { openScreen, type Screen, type ScreenOptions } from './screen.ts';

export type OpenFor = (
  customer: TestUser,
  options?: Omit<ScreenOptions, 'url' | 'login'>,
) => Promise<Screen>;

/** Gives what opens the console of a service and logs somebody in. */
export function consoleFor(app: TestApp): OpenFor {
  return async ({ email }, options = {}) => {
    const screen = await openScreen({ url: app.url, login: { email, password }, ...options });
    await screen.type('l');
    await screen.press('ctrl+s');
    await screen.until('Balance');
    return screen;
  };
}
