// What agents send is shown, never trusted. Characters that hide, reorder or control text become
// visible escapes, so that a name can't look like another name or move what stands next to it.

export interface Piece {
  text: string;
  /** It stands for a character that would not be seen as it is. */
  escaped: boolean;
}

// Controls, soft hyphen, Arabic letter mark, zero-width and bidi marks, separators, invisible operators,
// byte order mark, interlinear marks, variation selectors' supplement, tags; and halves of surrogate pairs.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/gu;

const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0", "\u001b": "\\e" };

function escape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return SHORT[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`);
}

function hex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, "0");
}

/** Splits a text into what can be shown as it is and what needs an escape. */
export function pieces(text: string, keepLines = false): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (keepLines && (match[0] === "\n" || match[0] === "\t")) continue;
    if (match.index > from) found.push({ text: text.slice(from, match.index), escaped: false });
    found.push({ text: escape(match[0]), escaped: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ text: text.slice(from), escaped: false });
  return found;
}

/** The same as one plain string, for titles and labels. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escape);
}

/** The start of a text, cut between characters and never inside of one. */
export function start(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const halves = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, halves ? length - 1 : length);
}
