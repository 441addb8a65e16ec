/** The settings of the provider. */
import { deployed, fileSetting, flag, formatted, integer, mustBeFalse, text } from './entry.ts';
import { dialectNames, everyDialect, providerFeatures } from './formats.ts';

const headerName = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$";

export const providerEntries = {
  PROVIDER_STUB: {
    meaning: 'simulate the provider; refused in production',
    ...flag,
    inProduction: mustBeFalse,
    defaultIn: { local: true, test: true },
    requiredIn: deployed,
  },
  PROVIDER_BASE_URL: {
    meaning: "the provider's address; required when PROVIDER_STUB is false; https in production",
    expected: 'an http:// or https:// address without user, query or fragment',
    schema: formatted('base-url'),
    inProduction: {
      expected: 'an https:// address without user, query or fragment',
      schema: formatted('https-base-url'),
    },
  },
  PROVIDER_EMAIL: {
    meaning: 'login of the development user; for development and direct tests only',
    expected: 'an e-mail address',
    schema: { ...text, pattern: '^[^\\s@]+@[^\\s@]+$' },
    defaultIn: { local: 'dev@ponte.test' },
  },
  PROVIDER_PASSWORD: {
    meaning: 'password of the development user; for development and direct tests only',
    expected: '8 to 128 characters',
    schema: { type: 'string', minLength: 8, maxLength: 128 },
    defaultIn: { local: 'ponte-dev-password' },
    orFile: 'PROVIDER_PASSWORD_FILE',
    isSecret: true,
  },
  PROVIDER_PASSWORD_FILE: fileSetting('PROVIDER_PASSWORD'),
  PROVIDER_CA: {
    meaning: "authorities to verify the provider's certificate with, instead of Node's own",
    expected: 'X.509 certificates as PEM, one after the other',
    schema: formatted('certificates'),
    orFile: 'PROVIDER_CA_FILE',
    isPem: true,
  },
  PROVIDER_CA_FILE: fileSetting('PROVIDER_CA'),
  PROVIDER_CLIENT_CERT: {
    meaning: 'certificate that Ponte shows to the provider (mTLS), with its chain',
    expected: 'X.509 certificates as PEM, one after the other',
    schema: formatted('certificates'),
    orFile: 'PROVIDER_CLIENT_CERT_FILE',
    isPem: true,
  },
  PROVIDER_CLIENT_CERT_FILE: fileSetting('PROVIDER_CLIENT_CERT'),
  PROVIDER_CLIENT_KEY: {
    meaning: 'private key of PROVIDER_CLIENT_CERT',
    expected: 'a private key as PEM without a pass phrase, that of PROVIDER_CLIENT_CERT',
    schema: formatted('private-key'),
    orFile: 'PROVIDER_CLIENT_KEY_FILE',
    isPem: true,
    isSecret: true,
  },
  PROVIDER_CLIENT_KEY_FILE: fileSetting('PROVIDER_CLIENT_KEY'),
  PROVIDER_API_KEY: {
    meaning: 'sent with every call to the provider, those of an onboarding included',
    expected: '1 to 1024 visible ASCII characters',
    schema: { type: 'string', pattern: '^[!-~]{1,1024}$' },
    orFile: 'PROVIDER_API_KEY_FILE',
    isSecret: true,
  },
  PROVIDER_API_KEY_FILE: fileSetting('PROVIDER_API_KEY'),
  PROVIDER_API_KEY_HEADER: {
    meaning: 'the header that PROVIDER_API_KEY is sent in',
    expected: 'the name of a header that Ponte does not send by itself',
    schema: { type: 'string', pattern: headerName },
    default: 'x-api-key',
  },
  PROVIDER_ISPB: {
    meaning: 'institution identifier for listing and deleting Pix keys',
    expected: '8 characters from 0-9 and A-Z',
    schema: { type: 'string', pattern: '^[0-9A-Z]{8}$' },
    default: '11165756',
  },
  PROVIDER_INSTITUTION_NAME: {
    meaning:
      "name of the institution that keeps the customers' accounts, which they are shown; unset: " +
      'the name that PROVIDER_ISPB has in the list of participants of Pix',
    expected: '1 to 140 characters on one line, not only spaces',
    schema: formatted('name'),
  },
  PROVIDER_INSTITUTION_DOCUMENT: {
    meaning: 'CNPJ of that institution, which customers are shown',
    expected: 'a CNPJ, with or without punctuation',
    schema: formatted('cnpj'),
  },
  PROVIDER_TIMEOUT_MS: {
    meaning: 'time-out of one attempt at a provider call, in milliseconds',
    ...integer(1, 120_000),
    default: 5000,
  },
  PROVIDER_RETRIES: {
    meaning: 'further attempts after the first one',
    ...integer(0, 10),
    default: 2,
  },
  PROVIDER_PAYMENT_RETRIES: {
    meaning:
      'the same for payments and returns; 0: one attempt, for a bank that has not confirmed that ' +
      'it recognises a repeated clientRequestId; unset: PROVIDER_RETRIES; stated in production',
    ...integer(0, 10),
    requiredIn: ['production'],
  },
  PROVIDER_PAYMENTS_PER_SECOND: {
    meaning:
      'attempts of payments and returns that a process begins within a second, as each may open ' +
      'a connection; further orders wait up to 5 s before they are paid; 0: no limit',
    ...integer(0, 10_000),
    default: 200,
  },
  PROVIDER_ECHOES_REQUEST_ID: {
    meaning:
      'the header in which every response of the bank repeats the X-Request-Id of its request; ' +
      'a response without it proves nothing; unset: none does',
    expected: 'the name of a header',
    schema: { type: 'string', pattern: headerName },
  },
  PROVIDER_DIALECTS: {
    meaning: "dialects of the provider's messages (none: PROVIDER_DIALECT_FILES only)",
    expected: `names of dialects (${dialectNames.join(', ')}), separated by commas, or none`,
    schema: formatted('dialects'),
    defaultIn: { local: everyDialect, test: everyDialect, staging: everyDialect },
    requiredIn: ['production'],
  },
  PROVIDER_DIALECT_FILES: {
    meaning: 'YAML files of further dialects, separated by commas (src/provider/README.md)',
    expected: 'paths of .yaml files, separated by commas',
    schema: formatted('yaml-files'),
  },
  PROVIDER_STATEMENT_SETTLED_ONLY: {
    meaning: 'whether a line of the statement without a status is settled, and proves a payment',
    ...flag,
    default: false,
  },
  PROVIDER_STATEMENT_FINAL: {
    meaning:
      'whether a line of the statement is final when it appears; otherwise a debit proves a ' +
      'payment ten minutes later, unless it was reversed. The simulated bank is final',
    ...flag,
    default: false,
  },
  PROVIDER_STATEMENT_HAS_IDS: {
    meaning:
      'whether the statement names every executed payment by our end-to-end id, so that a ' +
      'payment may be found unexecuted 36 hours after its last attempt. The simulated bank does',
    ...flag,
    default: false,
  },
  PROVIDER_FEATURES: {
    meaning:
      'what the provider offers beyond its specification (src/provider/README.md); ' +
      'none: nothing; unset: all with PROVIDER_STUB=true, otherwise nothing',
    expected: `names of features (${providerFeatures.join(', ')}), separated by commas, or none`,
    schema: formatted('features'),
  },
} as const;
