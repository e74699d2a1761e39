// The line of a policy that lets an agent run a command without being asked.

/** The policy's text with one more override; one that stands there already is left as it is. */
export function allowFor(text: string, agent: string, command: string): string {
  const lines = ["[[override]]", `agent = ${JSON.stringify(agent)}`, `destructive.allow = [${JSON.stringify(program(command))}]`];
  const added = lines.join("\n");
  if (text.includes(added)) return text;
  const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return `${start}${start === "" ? "" : "\n"}${added}\n`;
}

/** The program and its subcommand: `git push --force origin main` is `git push`. */
export function program(command: string): string {
  const words = command.trim().split(/\s+/);
  const [name = "", verb = ""] = words;
  return /^[a-z][\w-]*$/i.test(verb) ? `${name} ${verb}` : name;
}
