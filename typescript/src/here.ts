/** Where this package is. The build puts `here.commonjs.ts` in its place for `require`. */
export const here: string = import.meta.url;
