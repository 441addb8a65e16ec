/** What an operator can do about a row of a list, and the commands that do it. */
import type { Field } from './contract.ts';
import { cellText, type Row } from './table.ts';

/** What was typed, by the name of the field. */
export type Typed = Readonly<Record<string, string>>;

export interface OperatorAction {
  /** The key that begins it. */
  readonly key: string;
  readonly name: string;
  /** What a person types before it. */
  readonly fields: readonly Field[];
  /** The arguments of `ponte` that show the effects and change nothing; null: there are none. */
  preview: ((row: Row, typed: Typed) => readonly string[]) | null;
  /** Null: the preview is all. */
  readonly change: OperatorChange | null;
}

interface OperatorChange {
  /** Asked after the preview. */
  readonly question: string;
  /** The arguments of `ponte` that do it. */
  command(row: Row, typed: Typed): readonly string[];
}

function field(name: string, label: string, hint: string): Field {
  return { name, label, hint, isRequired: true, in: 'body', kind: 'text', isSecret: false };
}

const by = field('by', 'Operator', 'your name; it is recorded');

const reason = field('reason', 'Reason', 'it is recorded: no personal data');

/** The options for what was typed. The equals sign keeps a value from being read as an option. */
function typedOptions(typed: Typed, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const value = typed[name] ?? '';
    return value === '' ? [] : [`--${name}=${value}`];
  });
}

const decision = ['by', 'reason'];

function id(row: Row): string {
  return cellText(row, 'id');
}

const replayDry: OperatorAction = {
  key: 'd',
  name: 'replay dry',
  fields: [],
  preview: (row) => ['webhook', 'replay', id(row), '--dry-run'],
  change: null,
};

export const replayActions: readonly OperatorAction[] = [
  replayDry,
  {
    ...replayDry,
    key: 'w',
    name: 'replay',
    change: {
      question: 'Replay it for good?',
      command: (row) => ['webhook', 'replay', id(row), '--yes'],
    },
  },
];

export const retryActions: readonly OperatorAction[] = [
  {
    key: 't',
    name: 'try again',
    fields: [],
    preview: null,
    change: {
      question: 'Queue the job again?',
      command: (row) => ['jobs', 'retry', id(row), '--yes'],
    },
  },
];

/** The command compares these words. */
const paid = field('confirm', 'Confirm', 'type: money has moved');

const risk = field('confirm', 'Confirm', 'type: money may have moved');

function resolve(as: 'completed' | 'failed', names: readonly string[]): OperatorChange['command'] {
  return (row, typed) => [
    'pix',
    'resolve',
    id(row),
    '--as',
    as,
    ...typedOptions(typed, names),
    '--yes',
  ];
}

export const resolveActions: readonly OperatorAction[] = [
  {
    key: 'c',
    name: 'it was paid',
    fields: [by, reason, paid],
    preview: null,
    change: {
      question: 'Mark it as COMPLETED permanently, because money has moved?',
      command: resolve('completed', [...decision, 'confirm']),
    },
  },
  {
    key: 'f',
    name: 'it was not paid',
    fields: [by, reason, risk],
    preview: null,
    change: {
      question:
        'Mark it as FAILED permanently, although money may have moved? The app will offer to pay ' +
        'again.',
      command: resolve('failed', [...decision, 'confirm']),
    },
  },
];

/** Closes a row that an operator has explained, by the command of its noun. */
function accept(noun: 'reconcile' | 'webhook', question: string): OperatorAction {
  return {
    key: 'a',
    name: 'accept',
    fields: [by, reason],
    preview: null,
    change: {
      question,
      command: (row, typed) => [noun, 'accept', id(row), ...typedOptions(typed, decision), '--yes'],
    },
  };
}

export const acceptActions = [accept('reconcile', 'Close the difference permanently?')];

/** For events that wait for nothing. */
export const endedEventActions = [
  ...replayActions,
  accept('webhook', 'Close the event? No payment changes.'),
];

function reconcile(row: Row): string[] {
  return ['reconcile', 'run', '--day', cellText(row, 'day'), '--user', cellText(row, 'userId')];
}

export const readActions: readonly OperatorAction[] = [
  {
    key: 'd',
    name: 'read it dry',
    fields: [],
    preview: (row) => [...reconcile(row), '--dry-run'],
    change: null,
  },
  {
    key: 'w',
    name: 'read it',
    fields: [by, reason],
    preview: (row) => [...reconcile(row), '--dry-run'],
    change: {
      question: 'Settle what this statement proves?',
      command: (row, typed) => [...reconcile(row), ...typedOptions(typed, decision), '--yes'],
    },
  },
];

const file = field('try', 'File of codes', 'YAML: the codes that mean "not executed"');

const tryCodes: OperatorAction = {
  key: 't',
  name: 'try codes',
  fields: [file],
  preview: (_row, typed) => ['provider', 'unknown', ...typedOptions(typed, ['try'])],
  change: null,
};

export const codeActions: readonly OperatorAction[] = [
  tryCodes,
  {
    ...tryCodes,
    key: 'w',
    name: 'apply codes',
    fields: [file, by, reason],
    change: {
      question:
        'Mark the payments that these codes account for as FAILED permanently? Their people will ' +
        'be offered to pay again.',
      command: (_row, typed) => [
        'provider',
        'unknown',
        ...typedOptions(typed, ['try']),
        '--apply',
        ...typedOptions(typed, decision),
        '--yes',
      ],
    },
  },
];
