/** Which pages are served, to whom, and under which policy; test/browser/ looks at them. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { scenarios } from '../../../src/provider/stub/scenarios.ts';
import { startTestApp } from '../../support/app.ts';

const pages = ['/dev', '/dev/onboarding', '/dev/prova-vida/some-session', '/docs'];

const files = readdirSync(new URL('../../../src/pages/dev/', import.meta.url));

const local = await startTestApp({ environment: { APP_ENV: 'local' } });
const anywhere = await startTestApp();

describe('in local', () => {
  const { url } = local;

  for (const path of pages) {
    it(`${path} is a page without code or styles of its own in it`, async () => {
      const answer = await fetch(`${url}${path}`);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
      const policy = answer.headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'; script-src 'self';/);
      const html = await answer.text();
      assert.doesNotMatch(html, /<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
      assert.doesNotMatch(html, /(?:src|href)="(?:https?:)?\/\//);
    });
  }

  it('every file that a page asks for is served with its type', async () => {
    assert.ok(files.length > 10);
    for (const file of files) {
      const answer = await fetch(`${url}/dev/assets/${file}`);
      assert.equal(answer.status, 200, file);
      assert.match(answer.headers.get('content-type') ?? '', /^text\/(?:html|css|javascript);/);
    }
  });

  it('the scenarios of the simulated bank are those of its table', async () => {
    const listed = (await (await fetch(`${url}/dev/scenarios.json`)).json()) as object[];
    assert.deepEqual(
      listed,
      scenarios.map(({ input, value, effect }) => ({ input, value, effect })),
    );
  });

  it('a file that is none of ours is not served', async () => {
    for (const path of ['/dev/assets/index.ts', '/dev/assets/..%2f..%2fapp.ts', '/dev/nothing']) {
      assert.equal((await fetch(`${url}${path}`)).status, 404, path);
    }
  });
});

describe('anywhere else', () => {
  const { url } = anywhere;

  it('there are no pages, whatever the method', async () => {
    for (const path of [...pages, '/dev/assets/api.js', '/docs/assets/reference.js']) {
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']) {
        assert.equal((await fetch(`${url}${path}`, { method })).status, 404, `${method} ${path}`);
      }
    }
  });
});
