/** `ponte doctor`: everything that Ponte needs, and what to do. */
import { examine, type Finding } from '../../src/operator/doctor.ts';
import type { Desk } from '../desk.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { plainText } from '../table.ts';
import type { Tone } from '../tone.ts';

const marks: Readonly<Record<Finding['state'], readonly [Tone, string]>> = {
  ok: ['good', 'ok  '],
  doubtful: ['doubtful', 'warn'],
  bad: ['bad', 'bad '],
};

/** Prints a line for each finding. */
export async function doctor(
  { environment, clock, run, terminal }: Desk,
  { json = false }: { readonly json?: boolean },
): Promise<ExitCode> {
  const findings = await examine({
    environment: environment(),
    clock,
    inspectDatabase: () => run('inspect database', {}),
  });
  const isWell = findings.every(({ state }) => state !== 'bad');
  if (json) {
    terminal.json({ ok: isWell, findings });
  } else {
    for (const { name, state, says, todo } of findings) {
      const [tone, mark] = marks[state];
      terminal.print(`${terminal.tone(tone, mark)} ${name}: ${plainText(says)}`);
      if (todo !== null) terminal.print(`     → ${todo}`);
    }
  }
  return isWell ? exitCodes.done : exitCodes.bad;
}
