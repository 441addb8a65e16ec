/** What a text of a result is told by its colour as well, where there are colours. */
export const toneStyles = {
  good: 'green',
  bad: 'red',
  doubtful: 'yellow',
  faint: 'dim',
  strong: 'bold',
} as const;

export type Tone = keyof typeof toneStyles;
