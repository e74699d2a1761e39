// Agents as they are: some work, some run away. Events of the wire format, in the order they happen, for
// tests and screenshots. They go through the real API and get whatever the real rules say.

export interface WireEvent {
  type: string;
  [field: string]: unknown;
}

let calls = 0;

/** A call and what came of it. */
export function worked(session: string, agent: string, server: string, tool: string, args: unknown, result: unknown, failed = false): WireEvent[] {
  calls += 1;
  const id = `t${calls}`;
  return [
    { type: "call", session, agent, id, server, tool, args },
    { type: "step", session, id, result, is_error: failed },
  ];
}

function asked(to: string, content: string, flow?: string, agent?: string): WireEvent {
  return { type: "message", to, content, ...(flow ? { flow } : {}), ...(agent ? { to_agent: agent } : {}) };
}

/** It deletes an asset, is told that it still exists, and deletes it again. */
export function cleanUpLoop(session = "nightly-cleanup"): WireEvent[] {
  const look = (n: number) => worked(session, "cleaner", "catalog", "list_assets", { page: n }, `${40 - n * 13} assets, 3 of them stale`);
  const remove = () => worked(session, "cleaner", "catalog", "delete_asset", { asset_id: "fact_sales" }, "asset still exists", true);
  return [asked(session, "Remove what nobody uses", undefined, "cleaner"), ...look(1), ...look(2), ...remove(), ...worked(session, "cleaner", "catalog", "get_asset", { asset_id: "fact_sales" }, "fact_sales, 12 GB, last read 400 days ago"), ...remove(), ...remove(), ...remove()];
}

/** It asks for the log of a process that says nothing new. */
export function poller(session = "deploy-watch-7f3a"): WireEvent[] {
  const ask = () => worked(session, "deployer", "shell", "read_log", { process: 4711 }, "waiting for lock");
  return [asked(session, "Deploy and tell me when it is done", undefined, "deployer"), ...worked(session, "deployer", "shell", "run", { command: "deploy --prod" }, "started, pid 4711"), ...Array.from({ length: 9 }, ask).flat()];
}

/** The same failing test after every edit. */
export function editTest(session = "fix-flaky-test"): WireEvent[] {
  const cycle = (n: number) => [
    ...worked(session, "coder", "files", "edit_file", { path: "src/cart.rs", text: `attempt ${n}` }, "ok"),
    ...worked(session, "coder", "shell", "run", { command: "cargo test cart" }, "error: assertion failed: total == 42", true),
  ];
  return [asked(session, "Make the cart test pass", undefined, "coder"), ...worked(session, "coder", "files", "read_file", { path: "src/cart.rs" }, "fn total() -> u32 { 41 }"), ...Array.from({ length: 12 }, (_, n) => cycle(n)).flat()];
}

/** Work as it should be: every step brings something. */
export function honest(session: string, agent: string, steps: number): WireEvent[] {
  const tools: [string, string, (n: number) => unknown][] = [
    ["files", "read_file", (n) => ({ path: `src/part_${n}.rs` })],
    ["search", "grep", (n) => ({ pattern: `TASK-${n}` })],
    ["files", "edit_file", (n) => ({ path: `src/part_${n}.rs`, text: `change ${n}` })],
    ["shell", "run", (n) => ({ command: `cargo test part_${n}` })],
  ];
  const step = (n: number) => {
    const [server, tool, args] = tools[n % tools.length] ?? ["shell", "run", () => ({})];
    return worked(session, agent, server, tool, args(n), `result ${n}: ${n * 17} lines`);
  };
  const usage = { type: "usage", session, input_tokens: 1200 * steps, output_tokens: 300 * steps, cost_usd: 0.012 * steps };
  return [asked(session, "Work on it", undefined, agent), ...Array.from({ length: steps }, (_, n) => step(n)).flat(), usage];
}

/** A coordinator with helpers in parallel; one helper goes too deep. */
export function flowOfHelpers(flow = "release-2026.11"): WireEvent[] {
  const say = (from: string, to: string, content: string, agent: string): WireEvent => ({ type: "message", from, to, flow, content, to_agent: agent });
  const helpers = ["docs", "changelog", "benchmarks"];
  return [
    asked("coordinator", "Prepare the release", flow, "coordinator"),
    ...helpers.map((helper) => say("coordinator", helper, `do your part: ${helper}`, helper)),
    ...worked("docs", "docs", "files", "read_file", { path: "README.md" }, "# Sprag"),
    say("docs", "coordinator", "docs are done", "coordinator"),
    ...worked("changelog", "changelog", "git", "log", { since: "v0.1" }, "41 commits"),
    say("changelog", "reviewer", "please look", "reviewer"),
    say("reviewer", "security", "is this public?", "security"),
    say("security", "legal", "may we say this?", "legal"),
    say("legal", "translator", "say it in plain words", "translator"),
    say("benchmarks", "coordinator", "12 % faster", "coordinator"),
    say("legal", "security", "yes, we may", "security"),
    say("security", "reviewer", "nothing secret in it", "reviewer"),
    say("reviewer", "changelog", "fine with me", "changelog"),
    say("changelog", "coordinator", "changelog is done", "coordinator"),
  ];
}

/** Two agents that thank each other. */
export function echo(flow = "standup-notes"): WireEvent[] {
  const pair = Array.from({ length: 6 }, () => [
    { type: "message", from: "notes-a", to: "notes-b", flow, content: "Thanks! Anything else?", agent: "notes" },
    { type: "message", from: "notes-b", to: "notes-a", flow, content: "No, thank you! Anything else?", agent: "notes" },
  ]).flat();
  return [asked("notes-a", "Agree on the notes", flow, "notes"), ...pair];
}

/** Everything above, woven together as it would happen in a busy house. */
export function busyHouse(): WireEvent[] {
  const strands = [
    honest("api-refactor", "coder", 24),
    honest("invoice-2291", "bookkeeper", 10),
    honest("support-88120", "support", 7),
    cleanUpLoop(),
    poller(),
    editTest(),
    flowOfHelpers(),
    echo(),
    ...Array.from({ length: 18 }, (_, n) => honest(`support-${88121 + n}`, "support", 2 + (n % 5))),
  ];
  const woven: WireEvent[] = [];
  for (let n = 0; strands.some((strand) => n < strand.length); n += 1) for (const strand of strands) if (strand[n]) woven.push(strand[n] as WireEvent);
  return woven;
}

/** Names that try to be more than names. */
export const HOSTILE = {
  script: `<img src=x onerror="document.title='owned'"><script>document.title="owned"</script>`,
  bidi: "invoice\u202Egnp.exe\u202C",
  hidden: "pay\u200B\u200Bload\u2066\u2069",
  template: "{{constructor.constructor('return 1')()}}${7*7}",
  long: "A".repeat(250),
};
