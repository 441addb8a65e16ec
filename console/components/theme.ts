import { defaultTheme, extendTheme, type Theme } from '@inkjs/ui';

/** What turns and what fills up, without the colours that it comes with. */
const plain = extendTheme(defaultTheme, {
  components: {
    Spinner: { styles: { frame: () => ({}) } },
    ProgressBar: { styles: { completed: () => ({}) } },
  },
});

/** The theme of the parts that are not ours. */
export function themeOf(hasColours: boolean): Theme {
  return hasColours ? defaultTheme : plain;
}
