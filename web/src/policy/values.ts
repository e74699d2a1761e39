// The values in force, grouped as people think of them: by the family of the rules they limit.
import type { EffectiveValue, PolicyInForce } from "../api/shapes.ts";

export interface Family {
  name: string;
  title: string;
  rules: PolicyInForce["rules"];
  values: { key: string; value: string; standard: string; set: boolean }[];
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
  budget: "Budgets",
};

export function families(policy: PolicyInForce): Family[] {
  const found = new Map<string, Family>();
  const family = (id: string) => {
    const name = id.split(".")[0] ?? id;
    const known = found.get(name) ?? { name, title: TITLES[name] ?? name, rules: [], values: [] };
    found.set(name, known);
    return known;
  };
  for (const rule of policy.rules) family(rule.id).rules.push(rule);
  for (const [key, value] of Object.entries(policy.effective)) {
    if (key.startsWith("rules.")) continue;
    family(key).values.push({ key, value: shown(value.value), standard: shown(value.default), set: differs(value) });
  }
  return [...found.values()];
}

function differs(value: EffectiveValue): boolean {
  return JSON.stringify(value.value) !== JSON.stringify(value.default);
}

export function shown(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(shown).join(", ");
  if (typeof value === "object") return Object.entries(value).map(([key, part]) => `${key} ${shown(part)}`).join(", ");
  return typeof value === "number" ? value.toLocaleString("en") : String(value);
}
