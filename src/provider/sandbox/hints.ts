/** Lists the magic values and the fault rules, for the banner and the help. */
import { type Scenario, scenarios } from '../stub/scenarios.ts';
import { operationNames } from './contract.ts';
import { effectKinds, FaultSyntaxError, parseFaults } from './fault-language.ts';

/** The magic values, a line each, under the field that takes them. */
export function scenarioHints(): string[] {
  const width = Math.max(...scenarios.map(({ value }) => value.length));
  const lineOf = ({ value, happens }: Scenario): string => `  ${value.padEnd(width)}  ${happens}`;
  const groups = Map.groupBy(scenarios, ({ given }) => given);
  return [...groups].flatMap(([given, rows]) => [`${given}:`].concat(rows.map(lineOf)));
}

/** The language of faults: its paths and effects. */
export function faultHints(): string[] {
  const effects = Object.entries(effectKinds);
  const width = Math.max(...effects.map(([name]) => name.length));
  return [
    'rules, separated by commas: path:effect, path:effect=value, path:effect+effect,',
    'each with @chance (0.1: one call in ten) when it is not to hit every call',
    `paths: *, ${[...operationNames].join(', ')}`,
    'effects:',
    ...effects.map(([name, { happens }]) => `  ${name.padEnd(width)}  ${happens}`),
  ];
}

/** @returns what is wrong with rules; null when nothing is. */
export function faultsMistake(rules: string): string | null {
  try {
    parseFaults(rules, operationNames);
    return null;
  } catch (error) {
    if (error instanceof FaultSyntaxError) return error.message;
    throw error;
  }
}
