/** Loads dialects from their files, and refuses those that could be read in two ways. */
import { parseDocument } from 'yaml';
import { compileShapes, findMarkers, type NamedFile } from './compile.ts';
import { Dialects } from './dialects.ts';
import { structureFaults, type DialectFile } from './format.ts';
import { checkShapes } from './overlap.ts';
import { sampleFaults } from './samples.ts';

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
 * Loads the active dialects together, and runs all their samples: a new dialect may change what
 * another one reads.
 * @throws DialectError with all faults.
 */
export function loadDialects(
  texts: readonly DialectText[],
  { runSamples = true }: { readonly runSamples?: boolean } = {},
): Dialects {
  const faults: string[] = [];
  const report = (place: string, fault: string): void => void faults.push(`${place}: ${fault}`);
  const files = texts.map(({ name, text }) => parseFile(name, text));
  const markers = findMarkers(files);
  const shapes = compileShapes(files, report);
  checkShapes(shapes, report);
  if (faults.length > 0) throw new DialectError(faults);
  const dialects = new Dialects(shapes, markers);
  if (runSamples) for (const one of texts) faults.push(...sampleFaults(dialects, one));
  if (faults.length > 0) throw new DialectError(faults);
  return dialects;
}

/**
 * Every scalar is a text, because YAML's types would read the code `1E5` and the word `001` as
 * numbers.
 */
function parseFile(name: string, text: string): NamedFile {
  const document = parseDocument(text, { schema: 'failsafe', uniqueKeys: true });
  const syntax = document.errors.map(({ message }) => `${name}: ${message}`);
  if (syntax.length > 0) throw new DialectError(syntax);
  const content: unknown = document.toJS({ maxAliasCount: 100 });
  const structure = structureFaults(content).map((fault) => `${name}: ${fault}`);
  if (structure.length > 0) throw new DialectError(structure);
  return { name, file: content as DialectFile };
}
