/** What is checked while it is typed. */
import type { OperationId } from '../../contract/types.ts';
import type { Faults } from './form.ts';

/** The faults of what an operation would be given, by the name of the field or the header. */
export type Check = (values: Readonly<Record<string, unknown>>) => Faults;

export type Checks = (id: OperationId) => Check;

/** Before the contract has come everything will do: the service says what is wrong, afterwards. */
export const noChecks: Checks = () => () => ({});
