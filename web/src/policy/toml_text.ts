// Reads and changes single values in a policy as the server writes it: a section, a key and a value on
// each line. What people write by hand goes to the server as it is.

export type Value = number | string | boolean | string[];

export interface PolicyValues {
  /** `flow.max_depth` → 5; tables in one line are taken apart: `flow.echo.warn` → 3. */
  values: Map<string, Value>;
  /** What each override says, in the order of the file. */
  overrides: Map<string, Value>[];
  /** What each `[[tool]]` says. */
  tools: Map<string, Value>[];
}

const LINE = /^\s*("[^"]*"|[\w.-]+)\s*=\s*(.+?)\s*$/;
const PAIR = /("[^"]*"|[\w.-]+)\s*=\s*("[^"]*"|\[[^\]]*\]|[^,}\s]+)/g;

export function readValues(text: string): PolicyValues {
  const values = new Map<string, Value>();
  const overrides: Map<string, Value>[] = [];
  const tools: Map<string, Value>[] = [];
  let into = values;
  let section = "";
  for (const line of text.split("\n")) {
    const head = /^\s*(\[\[?)([^\]]+)\]/.exec(line);
    if (head?.[1] === "[[") {
      into = new Map();
      (head[2] === "tool" ? tools : overrides).push(into);
      section = "";
    } else if (head) {
      const inOverride = head[2]?.startsWith("override.") ?? false;
      if (!inOverride) into = values;
      section = (inOverride ? head[2]?.slice("override.".length) : head[2]) ?? "";
    } else {
      const pair = LINE.exec(line);
      if (pair) put(into, join(section, unquoted(pair[1] ?? "")), pair[2] ?? "");
    }
  }
  return { values, overrides, tools };
}

function join(section: string, key: string): string {
  return section === "" ? key : `${section}.${key}`;
}

function put(into: Map<string, Value>, key: string, text: string): void {
  if (!text.startsWith("{")) {
    into.set(key, value(text));
    return;
  }
  for (const pair of text.slice(1).matchAll(PAIR)) into.set(`${key}.${unquoted(pair[1] ?? "")}`, value((pair[2] ?? "").trim()));
}

function value(text: string): Value {
  if (text === "true" || text === "false") return text === "true";
  if (/^-?[\d_]+(\.\d+)?$/.test(text)) return Number(text.replaceAll("_", ""));
  if (text.startsWith("[")) return [...text.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? "");
  return unquoted(text);
}

function unquoted(text: string): string {
  return text.replace(/^"(.*)"$/, "$1");
}

/** The text with other values under some of its keys. */
export function withValues(text: string, changes: Record<string, number | string>): string {
  const wanted = new Map(Object.entries(changes));
  let section = "";
  const lines = text.split("\n").map((line) => {
    const head = /^\s*\[\[?([^\]]+)\]/.exec(line);
    if (head) section = line.trimStart().startsWith("[[") ? "an override" : (head[1] ?? "");
    const pair = head ? null : LINE.exec(line);
    if (!pair) return line;
    const key = join(section, unquoted(pair[1] ?? ""));
    if (!(pair[2] ?? "").startsWith("{")) return wanted.has(key) ? line.replace(/=.*/, `= ${written(wanted.get(key))}`) : line;
    const brace = line.indexOf("{");
    return line.slice(0, brace) + line.slice(brace).replace(PAIR, (whole, part: string) => {
      const inner = `${key}.${unquoted(part)}`;
      return wanted.has(inner) ? `${part} = ${written(wanted.get(inner))}` : whole;
    });
  });
  return lines.join("\n");
}

function written(value: number | string | undefined): string {
  return typeof value === "number" ? String(value) : JSON.stringify(value ?? "");
}
