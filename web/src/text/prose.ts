// Sentences in which backticks mark code, taken apart.

export interface ProsePart {
  text: string;
  code: boolean;
}

/** A backtick without a partner is only a backtick. */
export function prose(text: string): ProsePart[] {
  const pieces = text.split("`");
  const open = pieces.length % 2 === 0 ? pieces.pop() : undefined;
  const parts = pieces.map((piece, n) => ({ text: piece, code: n % 2 === 1 }));
  const last = parts.at(-1);
  if (open !== undefined && last) last.text += `\`${open}`;
  return parts.filter((part) => part.text !== "");
}
