/**
 * The container image, built without a registry and run without a container engine: a mount
 * namespace has the image's files read-only, and the process in it the image's user, environment
 * and command.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root, type Environment, type ServiceChild } from './service-process.ts';

const run = promisify(execFile);

/** What is missing on this machine; null: nothing. */
export function missingTool(): string | null {
  const tools = ['buildah', 'mmdebstrap', 'npm', 'openssl', 'unshare'];
  const missing = tools.find((name) => spawnSync('which', [name]).status !== 0);
  if (missing !== undefined) return `needs ${missing} on this machine`;
  return process.getuid?.() === 0 ? null : 'needs root, which builds and mounts the image';
}

/** The part of the image's configuration that a container engine goes by. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly StopSignal: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface ContainerOptions {
  /** Replaces the command of the image. */
  readonly command?: readonly string[] | undefined;
  /** Replaces the entry point of the image. */
  readonly entrypoint?: readonly string[];
  readonly environment?: Environment;
  /** The folder whose files the container has in /run/secrets. */
  readonly secrets: string;
  /** Another user than that of the image: its number. */
  readonly user?: string;
}

export class Image {
  readonly config: ImageConfig;
  /** The digests of its layers: its files with their owners, modes and times. */
  readonly layers: readonly string[];
  /** The size in bytes, without the base. */
  readonly addedBytes: number;
  /** The folder of the image's files. */
  readonly files: string;

  private constructor(of: Pick<Image, 'config' | 'layers' | 'addedBytes' | 'files'>) {
    this.config = of.config;
    this.layers = of.layers;
    this.addedBytes = of.addedBytes;
    this.files = of.files;
  }

  /** Builds the Containerfile on bases in the store. */
  static async build(store: Store): Promise<Image> {
    const id = await store.build();
    const inspected = await store.buildah('inspect', '--type', 'image', id);
    const { config, rootfs } = (JSON.parse(inspected) as Inspected).Docker;
    const container = await store.buildah('from', id);
    const files = await store.buildah('mount', container);
    const addedBytes = (await store.size(id)) - (await store.size(base));
    return new Image({ config, layers: rootfs.diff_ids, files, addedBytes });
  }

  /** Starts a container on the network of this machine. */
  start(options: ContainerOptions): ServiceChild {
    const { Cmd, Entrypoint, Env, User, WorkingDir } = this.config;
    const { command = Cmd, entrypoint = Entrypoint, secrets, user = User } = options;
    const { environment = {} } = options;
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const args = [
      ['--mount', 'sh', '-euc', mounts, 'sh', this.files, secrets],
      ['chroot', `--userspec=${user}`, this.files],
      ['/usr/bin/env', '--ignore-environment', `--chdir=${WorkingDir}`],
      [...Env, ...variables, ...entrypoint, ...command],
    ].flat();
    return spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** Runs a container to its end. */
  async run(options: ContainerOptions): Promise<{ code: number; output: string }> {
    const child = this.start(options);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    const code = await new Promise<number>((resolve) => {
      child.on('close', (end) => resolve(end ?? -1));
    });
    return { code, output };
  }
}

interface Inspected {
  readonly Docker: {
    readonly config: ImageConfig;
    readonly rootfs: { readonly diff_ids: readonly string[] };
  };
}

/** A process in the namespace keeps its number, so that a signal to it reaches the service. */
const mounts = `
  files=$1 secrets=$2
  shift 2
  mount --bind "$files" "$files"
  mount -o remount,bind,ro "$files"
  mount -t tmpfs tmpfs "$files/tmp"
  mount -t tmpfs tmpfs "$files/run"
  mkdir "$files/run/secrets"
  for secret in "$secrets"/*; do
    inside=$files/run/secrets/$(basename "$secret")
    touch "$inside"
    mount --bind "$secret" "$inside"
  done
  mount --rbind /dev "$files/dev"
  mount -t proc -o subset=pid proc "$files/proc"
  exec "$@"
`;

const base = 'localhost/ponte-base';
const buildBase = 'localhost/ponte-build-base';

/** The programs that the Containerfile needs of its bases. */
const packages = 'base-files,coreutils,dash,findutils,libc6,libstdc++6,libatomic1,binutils';

/** The images, in a folder of the test. */
export class Store {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ponte-image-'));

  /** Makes the two bases: Debian, and the same with npm. */
  async prepare(): Promise<void> {
    const archive = join(this.#folder, 'base.tar');
    const hooks = '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr';
    const args = ['--variant=extract', hooks, `--include=${packages}`, 'bookworm', archive];
    await run('mmdebstrap', args);
    const container = await this.buildah('from', 'scratch');
    await this.buildah('add', container, archive, '/');
    await this.buildah('commit', container, base);
    await this.#addNpm(container);
    await this.buildah('commit', container, buildBase);
    await this.buildah('rm', container);
  }

  /** npm goes first by the packages that this machine has already downloaded. */
  async #addNpm(container: string): Promise<void> {
    const { stdout } = await run('npm', ['pack', '--silent', 'npm@11'], { cwd: this.#folder });
    const unpacked = join(this.#folder, 'npm');
    mkdirSync(unpacked);
    await run('tar', ['-xf', join(this.#folder, stdout.trim()), '-C', unpacked]);
    const npm = '/usr/local/lib/npm';
    await this.buildah('copy', container, join(unpacked, 'package'), npm);
    await this.buildah('copy', container, process.execPath, '/usr/local/bin/node');
    await this.#run(container, 'ln', '-s', `${npm}/bin/npm-cli.js`, '/usr/local/bin/npm');
    const settings = ['npm_config_cache=/npm', 'npm_config_prefer_offline=true'];
    const { NODE_EXTRA_CA_CERTS: authorities } = process.env;
    if (authorities !== undefined) {
      await this.buildah('copy', container, authorities, '/authorities.pem');
      settings.push('NODE_EXTRA_CA_CERTS=/authorities.pem');
    }
    await this.buildah('config', ...settings.flatMap((pair) => ['--env', pair]), container);
  }

  /** @returns the id of the image. */
  async build(): Promise<string> {
    const { stdout } = await run('npm', ['config', 'get', 'cache']);
    const args = [
      ['bud', '--isolation', 'chroot', '--format', 'docker', '--timestamp', '0', '--no-cache'],
      ['--build-arg', `BUILD_IMAGE=${buildBase}`, '--build-arg', `BASE_IMAGE=${base}`],
      ['--volume', `${stdout.trim()}:/npm`],
      ['--file', join(root, 'src', 'operator', 'deploy', 'Containerfile'), root],
    ].flat();
    const output = await this.buildah(...args);
    return output.split('\n').at(-1) ?? '';
  }

  async size(image: string): Promise<number> {
    const container = await this.buildah('from', image);
    const files = await this.buildah('mount', container);
    const { stdout } = await run('du', ['--summarize', '--bytes', files]);
    await this.buildah('rm', container);
    return Number(stdout.split('\t')[0]);
  }

  /** @returns what it prints. */
  async buildah(...args: readonly string[]): Promise<string> {
    const own = ['--root', join(this.#folder, 'images'), '--runroot', join(this.#folder, 'run')];
    const options = { maxBuffer: 1 << 26 };
    const all = [...own, '--storage-driver', 'vfs', ...args];
    const { stdout } = await run('buildah', all, options);
    return stdout.trim();
  }

  async #run(container: string, ...command: readonly string[]): Promise<void> {
    await this.buildah('run', '--isolation', 'chroot', container, '--', ...command);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
