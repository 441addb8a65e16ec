/** Consoles with a logged-in customer. */
import type { TestApp } from '../../support/app.ts';
import { password } from '../../support/factories.ts';
import { openScreen, type Screen, type ScreenOptions } from './screen.ts';

export type OpenFor = (
  customer: { readonly email: string },
  options?: Omit<ScreenOptions, 'url' | 'login'>,
) => Promise<Screen>;

/** Tests let hours pass while they wait: no token runs out meanwhile. */
export const lastingTokens = { JWT_TTL_SECONDS: '2592000' } as const;

/** Returns a function that opens the console of a service and logs a customer in. */
export function consoleFor(app: TestApp): OpenFor {
  return async ({ email }, options = {}) => {
    const screen = await openScreen({ url: app.url, login: { email, password }, ...options });
    await screen.type('l');
    await screen.press('ctrl+s');
    await screen.until('Balance');
    return screen;
  };
}
