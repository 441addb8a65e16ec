/** The states of an account: PENDING → ACTIVE | REJECTED | BLOCKED. */
export const accountStatuses = ['PENDING', 'ACTIVE', 'REJECTED', 'BLOCKED'] as const;

export type AccountStatus = (typeof accountStatuses)[number];
