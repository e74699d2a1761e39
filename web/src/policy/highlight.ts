// A line of TOML in coloured pieces. Only for the eye: what is right and wrong, the server says.

export type Ink = "plain" | "comment" | "section" | "key" | "string" | "number" | "word";

export interface Piece {
  ink: Ink;
  text: string;
}

const TOKENS = /(#.*$)|("(?:[^"\\]|\\.)*"?|'[^']*'?)|(-?\b\d[\d_.]*\b)|\b(true|false)\b/g;

export function coloured(line: string): Piece[] {
  if (/^\s*\[/.test(line) && !line.includes("=")) return split(line, "section");
  const key = /^(\s*)((?:"[^"]*"|[\w.-]+)\s*)(?==)/.exec(line);
  if (!key) return split(line, "plain");
  const rest = line.slice(key[0].length);
  return [
    { ink: "plain", text: key[1] ?? "" },
    { ink: "key", text: key[2] ?? "" },
    ...split(rest, "plain"),
  ];
}

function split(text: string, ground: Ink): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(TOKENS)) {
    if (match.index > from) found.push({ ink: ground, text: text.slice(from, match.index) });
    const ink: Ink = match[1] ? "comment" : match[2] ? (ground === "section" ? "section" : "string") : match[3] ? "number" : "word";
    found.push({ ink, text: match[0] });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ ink: ground, text: text.slice(from) });
  return found;
}
