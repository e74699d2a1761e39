/** Where this package is, for `require`. */
export const here: string = __filename;
