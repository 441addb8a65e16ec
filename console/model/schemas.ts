/** Checks what is being typed against the contract that the service serves. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { OperationId } from '../../contract/types.ts';
import type { Check, Checks } from './check.ts';
import type { Faults } from './form.ts';
import { bodyOf } from './form-values.ts';

interface Parameter {
  readonly name: string;
  readonly required?: boolean;
}

interface WithParameters {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
}

interface Described extends WithParameters {
  readonly operationId?: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

/**
 * Compiles the contract's schemas, each when it is first asked for.
 * @param yaml the text of the contract.
 * @throws Error when it is none.
 */
export function checksOf(yaml: string): Checks {
  const contract = parse(yaml) as Contract;
  const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true, logger: false });
  // The package is CommonJS with a `default` of its own, which Node does not unwrap.
  (addFormats as unknown as (target: Ajv2020) => void)(ajv);
  addKeywords(ajv);
  ajv.addSchema(contract, 'contract');
  const operations = operationsOf(contract);
  const checks = new Map<OperationId, Check>();
  return (id) => {
    const pointer = operations.get(id);
    if (pointer === undefined) return () => ({});
    const check = checks.get(id) ?? checkOf(ajv, contract, pointer);
    checks.set(id, check);
    return check;
  };
}

/** The words of the contract that JSON Schema does not have. */
function addKeywords(ajv: Ajv2020): void {
  ajv.addKeyword({
    keyword: 'x-max-decimals',
    type: 'number',
    validate: (most: number, value: number) =>
      (/\.(\d+)$/.exec(`${value}`)?.[1] ?? '').length <= most,
  });
  const isSame = (...[other, value, , place]: SameAs): boolean =>
    place?.parentData[other] === value;
  ajv.addKeyword({ keyword: 'x-same-as', validate: isSame });
}

/** What ajv gives: the word's value, the field's value, the field's schema, and where it stands. */
type SameAs = [string, unknown, unknown?, { readonly parentData: Record<string, unknown> }?];

/** Where in the contract each operation stands. */
function operationsOf({ paths }: Contract): Map<string, string> {
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId }]) =>
      operationId === undefined
        ? []
        : [[operationId, `/paths/${escaped(path)}/${method}`] as const],
    ),
  );
  return new Map(found);
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function at(contract: Contract, pointer: string): unknown {
  return pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((node: unknown, name) => (node as Record<string, unknown>)[name], contract);
}

type Schemas = (pointer: string) => ValidateFunction | undefined;

/** The schema at a pointer, which stands in the fragment of a URI. */
function schemaIn(ajv: Ajv2020): Schemas {
  return (pointer) => ajv.getSchema(`contract#${pointer.replaceAll('%', '%25')}`);
}

interface Named extends Parameter {
  readonly validate: ValidateFunction | undefined;
}

/** The parameters of an operation, or those of its path. */
function namedBy(
  owner: string,
  { contract, schema }: { readonly contract: Contract; readonly schema: Schemas },
): Named[] {
  const { parameters = [] } = at(contract, owner) as WithParameters;
  return parameters.map((parameter, index) => {
    const place = '$ref' in parameter ? parameter.$ref.slice(1) : `${owner}/parameters/${index}`;
    const { name, required = false } = at(contract, place) as Parameter;
    return { name, required, validate: schema(`${place}/schema`) };
  });
}

function checkOf(ajv: Ajv2020, contract: Contract, pointer: string): Check {
  const { requestBody } = at(contract, pointer) as Described;
  const schema = schemaIn(ajv);
  const path = pointer.slice(0, pointer.lastIndexOf('/'));
  const named = [path, pointer].flatMap((owner) => namedBy(owner, { contract, schema }));
  const [media] = Object.keys(requestBody?.content ?? {});
  const body =
    media === undefined
      ? undefined
      : schema(`${pointer}/requestBody/content/${escaped(media)}/schema`);
  return (values) => {
    const ofParameters = named.flatMap(({ name, required, validate }) => {
      const value = values[name];
      if (value === undefined) return required ? [[name, 'Required.'] as const] : [];
      return Object.values(faultsFrom(validate, value)).map((fault) => [name, fault] as const);
    });
    const rest = Object.entries(values).filter(([name]) => !named.some((one) => one.name === name));
    const ofBody = faultsFrom(body, bodyOf(Object.fromEntries(rest)));
    return { ...ofBody, ...Object.fromEntries(ofParameters) };
  };
}

/** Of several faults of one field the first is told. */
function faultsFrom(validate: ValidateFunction | undefined, value: unknown): Faults {
  if (!validate || validate(value) === true) return {};
  const faults = (validate.errors ?? []).map((error) => {
    const { missingProperty: missing } = error.params as { readonly missingProperty?: string };
    const path = [...error.instancePath.split('/').slice(1), ...(missing ? [missing] : [])];
    return [path.join('.'), sentenceOf(error)] as const;
  });
  return Object.fromEntries(faults.toReversed());
}

type Say = (limit: string, error: ErrorObject) => string;

const formats: Readonly<Record<string, string>> = {
  email: 'An e-mail address, such as ana@example.com.',
  date: 'A date, such as 2026-11-21.',
  uuid: 'A UUID, such as 3f0c1f8e-5d0b-4b5c-9a51-0f6f3c1f2a77.',
};

const sentences: Readonly<Record<string, Say>> = {
  required: () => 'Required.',
  minLength: (least) => (least === '1' ? 'Must not be empty.' : `At least ${least} characters.`),
  maxLength: (most) => `At most ${most} characters.`,
  minimum: (least) => `At least ${least}.`,
  maximum: (most) => `At most ${most}.`,
  format: (name) => formats[name] ?? `Not in the form of a ${name}.`,
  enum: (values) => `One of: ${values.replaceAll(',', ', ')}.`,
  type: (name) => (name === 'integer' ? 'A whole number.' : 'An amount, such as 25 or 1.234,56.'),
  pattern: (_pattern, { parentSchema }) =>
    (parentSchema?.['description'] as string | undefined) ?? 'Not in the expected form.',
  'x-max-decimals': (most) => `At most ${most} decimals.`,
  'x-same-as': (other) => `Not the same as the ${other}.`,
};

function sentenceOf(error: ErrorObject): string {
  const say = sentences[error.keyword];
  return say ? say(String(error.schema), error) : `Not valid: ${error.message}.`;
}
