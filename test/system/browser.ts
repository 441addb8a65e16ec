/** A real Chromium for the tests of the pages, if one is installed. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import jsQRModule from 'jsqr';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { PNG } from 'pngjs';

// The package is CommonJS with a `default` of its own, which Node does not unwrap.
const jsQR = jsQRModule as unknown as typeof jsQRModule.default;

/** The paths at which Debian's package and other packages install a browser. */
const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const executablePath = places.find((path) => existsSync(path));

/** The reason to skip the tests; false: none. */
export const noBrowser =
  executablePath === undefined
    ? 'needs Chromium: install the package `chromium` to run these tests'
    : false;

/** Turns off updates and all other background requests: a machine may have no network. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

export async function openBrowser(): Promise<Browser> {
  assert.ok(executablePath);
  return chromium.launch({ executablePath, args: quiet });
}

/**
 * Opens a page in a new browser session. The test fails if the page reports an error, or loads
 * anything from another origin.
 */
export async function openPage(t: TestContext, browser: Browser, url: string): Promise<Page> {
  const viewport = { width: 1280, height: 900 };
  // The pages must show times of São Paulo in every time zone, and speak one language.
  const place = { timezoneId: 'Asia/Tokyo', locale: 'pt-BR' };
  const context = await browser.newContext({ viewport, ...place });
  const page = await context.newPage();
  const { origin } = new URL(url);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The browser reports every error status as an error; some tests provoke them.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const isOurs = request.url().startsWith(origin) || request.url().startsWith('data:');
    if (!isOurs) complaints.push(`the page asks for ${request.url()}`);
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(complaints, []);
  });
  await page.goto(url);
  return page;
}

/** Decodes a QR code from a screenshot, as a camera would. @returns null for no readable code. */
export async function scan(code: Locator): Promise<string | null> {
  await code.scrollIntoViewIfNeeded();
  const picture = PNG.sync.read(await code.screenshot());
  const pixels = new Uint8ClampedArray(picture.data);
  return jsQR(pixels, picture.width, picture.height)?.data ?? null;
}

const axePath = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** The accessibility rules that a page breaks, with the elements that break them. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Evaluated, not added as a script: the page's Content-Security-Policy refuses inline scripts.
  await page.evaluate(await readFile(axePath, 'utf8'));
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** @returns by how many pixels the page is wider than the window. */
export function measureOverflow(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
}
