/** The files of `src/operator/deploy` name what exists: settings, commands, files, secrets. */
import assert from 'node:assert/strict';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { loadProgram } from '../../bin/program.ts';
import { settings } from '../../src/config/report.ts';
import { grantsSql } from '../../src/operator/grants.ts';
import { deployFolder, readComposeFile } from '../support/compose-file.ts';

const read = (name: string): string => readFileSync(join(deployFolder, name), 'utf8');

const { services, secrets, volumes } = readComposeFile();
const own = Object.entries(services).filter(([, { image }]) => image === 'ponte');

interface Prometheus {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly {
    readonly static_configs: readonly { readonly targets: readonly string[] }[];
  }[];
}

describe('compose.yaml', () => {
  it('has two servers, a worker, a migration and the sandbox, by commands that exist', async () => {
    const { stdin, stdout, stderr } = process;
    const streams = { stdin, stdout, stderr };
    const program = await loadProgram({ version: '0.0.0', streams }, 'all');
    const known = program.commands.map((command) => command.name());
    const commands = own.map(([, { command }]) => command[0]);
    assert.deepEqual(commands, ['migrate', 'serve', 'serve', 'worker', 'provider-sandbox']);
    assert.deepEqual(
      commands.filter((name) => !known.includes(name ?? '')),
      [],
    );
  });

  it('sets only settings that Ponte has', () => {
    const known = new Set<string>(settings.map(({ name }) => name));
    const named = own.flatMap(([, { environment = {} }]) => Object.keys(environment));
    assert.ok(named.length > 30);
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
    );
  });

  it('gives each container the secrets of its settings, which make-secrets.sh writes', () => {
    for (const [name, { environment = {}, secrets: given = [] }] of own) {
      const files = Object.values(environment).filter((value) => value.startsWith('/run/secrets/'));
      const needed = files.map((file) => file.slice('/run/secrets/'.length));
      assert.deepEqual(given.toSorted(), needed.toSorted(), name);
    }
    const used = new Set(Object.values(services).flatMap(({ secrets: given = [] }) => given));
    assert.deepEqual([...used].toSorted(), Object.keys(secrets).toSorted());
    for (const [name, { file }] of Object.entries(secrets)) {
      assert.ok(file.endsWith(`}/${name}`), file);
      const isWritten = read('make-secrets.sh').includes(name);
      assert.ok(isWritten || /^(?:postgres|migrator|service)\./.test(name), name);
    }
  });

  it('mounts files that exist, and waits for services that exist', () => {
    for (const [name, { volumes: mounted = [], depends_on: awaited = {} }] of Object.entries(
      services,
    )) {
      for (const mount of mounted) {
        const [source = ''] = mount.split(':');
        const exists = source.startsWith('.')
          ? existsSync(join(deployFolder, source))
          : source in volumes;
        assert.ok(exists, `${name} mounts ${source}`);
      }
      for (const other of Object.keys(awaited)) assert.ok(other in services, `${name}: ${other}`);
    }
  });

  it('makes the file system of each of its processes read-only', () => {
    assert.deepEqual(
      own.filter(([, service]) => service.read_only !== true),
      [],
    );
  });

  it('scrapes every process that serves metrics, with the alarms of the handbook', () => {
    const { rule_files: rules, scrape_configs: jobs } = parse(
      read('prometheus.yaml'),
    ) as Prometheus;
    const mounted = services['prometheus']?.volumes ?? [];
    assert.ok(mounted.includes(`../monitoring/alerts.yaml:${rules[0]}:ro`), rules.join());
    const serving = own.filter(([, { command }]) => ['serve', 'worker'].includes(command[0] ?? ''));
    assert.deepEqual(
      jobs.flatMap(({ static_configs: lists }) => lists.flatMap(({ targets }) => targets)),
      serving.map(([name, { environment }]) => `${name}:${environment?.['METRICS_PORT']}`),
    );
  });
});

it('passwords.sh is a program, not a part of the shell that starts PostgreSQL', () => {
  assert.doesNotThrow(() => accessSync(join(deployFolder, 'passwords.sh'), constants.X_OK));
});

it('roles.sql is what `ponte migrate grants` prints', () => {
  const names = {
    migrator: 'ponte_migrator',
    service: 'ponte_service',
    readOnly: 'ponte_readonly',
  };
  assert.equal(read('roles.sql').trimEnd(), grantsSql(names).trimEnd());
});
