// The values in force, grouped as people think of them: by the family of the rules they limit.
import type { Defaults } from "../api/shapes.ts";
import { readValues, type Value } from "./toml_text.ts";

export interface RuleInForce {
  id: string;
  mode: string;
  standard: string;
  trips: string;
}

export interface Family {
  name: string;
  title: string;
  rules: RuleInForce[];
  values: { key: string; value: string; standard: string; differs: boolean }[];
}

const TITLES: Record<string, string> = {
  session: "Sessions",
  access: "Who may use what",
  flow: "Messages in a flow",
  inbox: "Inboxes",
  conversation: "Conversations",
  call: "Repeated calls",
  destructive: "Destructive calls",
  progress: "Progress",
  output: "What models say",
  budget: "Budgets",
  ask: "Questions to a person",
};

export function families(text: string, defaults: Defaults): Family[] {
  const { values } = readValues(text);
  const { values: standard } = readValues(defaults.text);
  const found = new Map<string, Family>();
  const family = (id: string) => {
    const name = id.split(".")[0] ?? id;
    const known = found.get(name) ?? { name, title: TITLES[name] ?? name, rules: [], values: [] };
    found.set(name, known);
    return known;
  };
  for (const { id, trips } of defaults.rules) {
    // A rule without a mode can't be switched off.
    const mode = (from: Map<string, Value>) => String(from.get(`rules.${id}`) ?? "always");
    family(id).rules.push({ id, mode: mode(values), standard: mode(standard), trips });
  }
  for (const [key, value] of values) {
    if (key.startsWith("rules.")) continue;
    const [now, was] = [shown(value), shown(standard.get(key))];
    family(key).values.push({ key, value: now, standard: was, differs: now !== was });
  }
  return [...found.values()];
}

export function shown(value: Value | undefined): string {
  if (value === undefined) return "–";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ");
  return typeof value === "number" ? value.toLocaleString("en") : String(value);
}

/** What a policy changes, in one sentence. */
export function summary(changes: number, overrides: number): string {
  if (changes === 0 && overrides === 0) return "All values are the defaults.";
  const values = changes === 0 ? "All values are the defaults" : `${changes} ${changes === 1 ? "value differs" : "values differ"} from the defaults`;
  if (overrides === 0) return `${values}.`;
  return `${values}; ${overrides} ${overrides === 1 ? "override sets" : "overrides set"} others for some agents or sessions.`;
}
