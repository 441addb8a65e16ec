/** Loads dialects from their files, and refuses those that could be read in two ways. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseDocument } from 'yaml';
import { dialectNames } from '../../config/formats.ts';
import { readRefusalCodes, type RefusalCodes } from '../refusals.ts';
import { Signs, signsFaults, type SignLists } from '../signs.ts';
import { isObject } from '../wire-reading.ts';
import { compileShapes, findMarkers, type NamedFile } from './compile.ts';
import { Dialects } from './dialects.ts';
import { structureFaults, type DialectFile } from './format.ts';
import { checkShapes } from './overlap.ts';
import { sampleFaults } from './samples.ts';
import { signSampleFaults } from './sign-samples.ts';

/** The data of this project about providers. */
const folder = join(import.meta.dirname, '../../../contract/provider');

const extension = '.yaml';

/** The name of a dialect is that of its file. */
export function dialectName(path: string): string {
  return basename(path, extension);
}

export interface DialectChoice {
  /** Names of this project's dialects, such as `bacen`. */
  readonly names: readonly string[];
  /** Paths of further files; the samples of `bank.yaml` are in `bank.samples.json`. */
  readonly files: readonly string[];
}

/** The text of a dialect's file, and of its samples. */
export interface DialectText {
  /** The name under which other files refer to it. */
  readonly name: string;
  readonly text: string;
  /** The JSON text of its samples; null without any. */
  readonly samples: string | null;
}

/** Dialects that cannot be used together. */
export class DialectError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'DialectError';
    this.faults = faults;
  }
}

/**
 * Opens the chosen dialects. The fields of this project's other dialects are guarded as well, so
 * that a message reads the same whatever dialects are chosen beside its own.
 * @throws DialectError with all faults, also of a file that cannot be read.
 */
export function openDialects(
  { names, files }: DialectChoice,
  options: Pick<LoadOptions, 'runSamples'> = {},
): Dialects {
  const own = (name: string): string => join(folder, 'dialects', `${name}${extension}`);
  const chosen = mapAll([...names.map(own), ...files], readDialect);
  const others = dialectNames.filter((name) => !names.includes(name)).map(own);
  return loadDialects(chosen, { ...options, guarding: others.map(readDialect) });
}

/** @throws DialectError with the faults of all. */
function mapAll<One, Mapped>(all: readonly One[], map: (one: One) => Mapped): Mapped[] {
  const faults: string[] = [];
  const mapped = all.flatMap((one) => {
    try {
      return [map(one)];
    } catch (error) {
      if (!(error instanceof DialectError)) throw error;
      faults.push(...error.faults);
      return [];
    }
  });
  if (faults.length > 0) throw new DialectError(faults);
  return mapped;
}

/** Reads the file of a dialect, and its samples if there are any. */
function readDialect(path: string): DialectText {
  const name = dialectName(path);
  const samples = join(dirname(path), `${name}.samples.json`);
  const text = readText(path);
  return { name, text, samples: existsSync(samples) ? readText(samples) : null };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'no text';
    throw new DialectError([`${path} cannot be read (${reason})`]);
  }
}

interface LoadOptions {
  readonly runSamples?: boolean;
  /** Dialects whose fields are guarded although they are not active. */
  readonly guarding?: readonly DialectText[];
}

/**
 * Loads the active dialects together, and runs all their samples: a new dialect may change what
 * another one reads.
 * @throws DialectError with all faults.
 */
export function loadDialects(
  texts: readonly DialectText[],
  { runSamples = true, guarding = [] }: LoadOptions = {},
): Dialects {
  const faults: string[] = [];
  const report = (place: string, fault: string): void => void faults.push(`${place}: ${fault}`);
  const files = mapAll(texts, ({ name, text }) => parseFile(name, text));
  const markers = findMarkers(files);
  const common = new Map(readCommonCodes());
  // A file without shapes has codes for those of the others.
  for (const { file, codes } of files) {
    if (!file.shapes) for (const [code, meaning] of codes) common.set(code, meaning);
  }
  const known = [...files, ...guarding.map(({ name, text }) => parseFile(name, text))];
  const shapes = compileShapes(files, known, { common, report });
  checkShapes(shapes, report);
  if (faults.length > 0) throw new DialectError(faults);
  const refusals = new Map([...files.flatMap(({ codes }) => Array.from(codes)), ...common]);
  const signs = new Signs([readCommonSigns(), ...files.flatMap(({ file }) => file.signs ?? [])]);
  const dialects = new Dialects({ shapes, markers, refusals, signs });
  if (runSamples) faults.push(...signSampleFaults(dialects, readText(signSamples)));
  if (runSamples) for (const one of texts) faults.push(...sampleFaults(dialects, one));
  if (faults.length > 0) throw new DialectError(faults);
  return dialects;
}

function parseFile(name: string, text: string): NamedFile {
  const content = parseYaml(name, text);
  const structure = structureFaults(content).map((fault) => `${name}: ${fault}`);
  if (structure.length > 0) throw new DialectError(structure);
  const file = content as DialectFile;
  if (!file.shapes && !file.not_executed) {
    throw new DialectError([`${name}: it has neither shapes nor not_executed`]);
  }
  return { name, file, codes: readCodes(name, file.not_executed) };
}

/**
 * Every scalar is a text, because YAML's types would read the code `1E5` and the word `001` as
 * numbers.
 */
function parseYaml(name: string, text: string): unknown {
  const document = parseDocument(text, { schema: 'failsafe', uniqueKeys: true });
  const syntax = document.errors.map(({ message }) => `${name}: ${message}`);
  if (syntax.length > 0) throw new DialectError(syntax);
  return document.toJS({ maxAliasCount: 100 });
}

function readCodes(name: string, table: Readonly<Record<string, unknown>> = {}): RefusalCodes {
  const { codes, faults } = readRefusalCodes(table);
  if (faults.length === 0) return codes;
  throw new DialectError(faults.map((fault) => `${name}: not_executed: ${fault}`));
}

const signSamples = join(folder, 'signs.samples.json');

/** Reads the signs that count whatever dialects are active. */
function readCommonSigns(): SignLists {
  const name = 'signs';
  const content = parseYaml(name, readText(join(folder, `${name}${extension}`)));
  const faults = signsFaults(content);
  if (faults.length > 0) throw new DialectError(faults.map((fault) => `${name}: ${fault}`));
  return content as SignLists;
}

/** Reads the codes that count whatever dialects are active. */
function readCommonCodes(): RefusalCodes {
  const name = 'refusals';
  const content = parseYaml(name, readText(join(folder, `${name}${extension}`)));
  const table = isObject(content) ? content['not_executed'] : null;
  if (!isObject(table)) throw new DialectError([`${name}: it has no codes`]);
  return readCodes(name, table);
}
