// A hint is a command: `sprag policy set KEY VALUE`. Where it sets a limit, the editor can do the same.

/** Where a hint can be applied: the policy's editor with the change in it; none if the hint is another command. */
export function limitHint(hint: string): string | undefined {
  const found = /^sprag policy set (\S+) (.+)$/.exec(hint.trim());
  if (!found) return undefined;
  return `/policy?${new URLSearchParams({ tab: "edit", hint: hint.trim() })}`;
}

/** The key and the value of a hint, and whom it is for. */
export function readHint(hint: string): { key: string; value: string; agent: string | null; session: string | null } | null {
  const found = /^sprag policy set (\S+) ('[^']*'|"[^"]*"|\S+)(.*)$/.exec(hint.trim());
  if (!found) return null;
  const [, key = "", quoted = "", rest = ""] = found;
  const named = (name: string) => new RegExp(`--${name} ('[^']*'|\\S+)`).exec(rest)?.[1]?.replace(/^'|'$/g, "") ?? null;
  return { key, value: quoted.replace(/^['"]|['"]$/g, ""), agent: named("agent"), session: named("session") };
}
