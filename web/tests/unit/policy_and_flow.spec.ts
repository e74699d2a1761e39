import { expect, test } from "@playwright/test";
import type { Flow, FlowCall } from "../../src/api/shapes.ts";
import { NODE, tree } from "../../src/flow/tree.ts";
import { coloured } from "../../src/policy/highlight.ts";
import { diff, hunks } from "../../src/policy/diff.ts";
import { readValues, withValues } from "../../src/policy/toml_text.ts";
import { families, shown, summary } from "../../src/policy/values.ts";

test("a diff holds both texts and nothing else", () => {
  const [before, after] = ["a\nb\nc\n", "a\nc\nd\n"];
  const lines = diff(before, after);
  expect(lines.map((line) => `${line.kind} ${line.text}`)).toEqual(["same a", "removed b", "same c", "added d"]);
  expect(diff("", "x")).toEqual([{ kind: "added", text: "x" }]);
  expect(diff("x", "x").every((line) => line.kind === "same")).toBe(true);
});

test("only what is near a change is shown", () => {
  const before = Array.from({ length: 20 }, (_, n) => `line ${n}`).join("\n");
  const shownLines = hunks(diff(before, before.replace("line 10", "line ten")), 1);
  expect(shownLines.map((line) => line?.text ?? "…")).toEqual(["line 9", "line 10", "line ten", "line 11"]);
  expect(hunks(diff("a", "a"))).toEqual([]);
});

test("every character of a line is in one of its pieces", () => {
  for (const line of ["[flow] # a", `"flow.*" = "shadow"`, "max_depth = 5 # five", `tools = ["a#b", 'c', 3]`, "  x", "", `broken = "no end`]) {
    expect(coloured(line).map((piece) => piece.text).join("")).toBe(line);
  }
  expect(coloured("max_depth = 5").map((piece) => piece.ink)).toEqual(["plain", "key", "plain", "number"]);
});

test("values of every kind read as words", () => {
  expect([5, "5m", true, [], ["a", "b"], undefined].map((value) => shown(value))).toEqual(["5", "5m", "true", "none", "a, b", "–"]);
});

function message(seq: number, from: string | null, to: string, verdict: FlowCall["verdict"] = "allow"): FlowCall {
  return { seq, at: seq, from, to, kind: "say", depth: 1, is_return: false, verdict, rule: null, message: null, stack: [], chain: 1 };
}

function flow(parents: Record<string, string | null>, calls: FlowCall[]): Flow {
  const sessions = Object.entries(parents).map(([session, parent]) => ({ session, agent: null, parent, sent: 0, received: 0, refused: 0, returns: 0, calls: 0, state: null }));
  return { flow: "f", started: 0, touched: 1, sessions, calls, cut: false };
}

test("parallel branches stand side by side, and a refused call is a ghost", () => {
  const laid = tree(flow({ root: null, a: "root", b: "root", deep: null }, [message(1, "root", "a"), message(2, "root", "b"), message(3, "a", "root"), message(4, "b", "deep", "deny")]));
  const place = (key: string) => laid.nodes.find((node) => node.key === key);
  expect([place("root")?.depth, place("a")?.depth, place("b")?.depth, place("refused b deep")?.depth]).toEqual([0, 1, 1, 2]);
  expect(place("a")?.y).not.toBe(place("b")?.y);
  expect(laid.edges.map((edge) => `${edge.from.id}>${edge.to.id} ${edge.kind}`).sort()).toEqual(["a>root return", "b>deep refused", "root>a call", "root>b call"]);
});

test("a session that is stopped for good is marked", () => {
  const one = flow({ root: null, a: "root", b: "root" }, [message(1, "root", "a"), message(2, "root", "b")]);
  const [root, a] = one.sessions;
  if (root && a) [root.state, a.state] = ["active", "killed"];
  expect(tree(one).nodes.map((node) => `${node.id} ${node.stopped}`).sort()).toEqual(["a kill", "b null", "root null"]);
});

test("no two nodes overlap, whatever the parents are", () => {
  const ring = flow({ a: "b", b: "a", c: "c", d: "gone" }, []);
  const wide = flow(Object.fromEntries([["r", null], ...Array.from({ length: 60 }, (_, n) => [`n${n}`, n % 3 === 0 ? "r" : `n${n - 1}`])]), []);
  for (const one of [ring, wide]) {
    const { nodes } = tree(one);
    expect(nodes).toHaveLength(one.sessions.length);
    const overlapping = nodes.flatMap((a, n) => nodes.slice(n + 1).filter((b) => Math.abs(a.x - b.x) < NODE.width && Math.abs(a.y - b.y) < NODE.height));
    expect(overlapping).toEqual([]);
  }
});

const TEXT = `[rules]
"flow.depth" = "shadow"

[flow]
max_depth = 5
max_duration = "5m"
echo = { warn = 3, deny = 5 }

[access]
allow = ["a/*", "b"]

[[override]]
agent = "bulk"
flow.max_depth = 9
`;

test("a policy's values are read one by one, overrides apart", () => {
  const { values, overrides } = readValues(TEXT);
  expect(Object.fromEntries(values)).toEqual({ "rules.flow.depth": "shadow", "flow.max_depth": 5, "flow.max_duration": "5m", "flow.echo.warn": 3, "flow.echo.deny": 5, "access.allow": ["a/*", "b"] });
  expect(overrides.map((override) => Object.fromEntries(override))).toEqual([{ agent: "bulk", "flow.max_depth": 9 }]);
});

test("a value is changed in its place and nowhere else", () => {
  const changed = withValues(TEXT, { "flow.max_depth": 2, "flow.echo.deny": 7, "flow.max_duration": "2m", "call.repeat": 1 });
  expect(diff(TEXT, changed).filter((line) => line.kind !== "same").map((line) => line.text)).toEqual(["max_depth = 5", 'max_duration = "5m"', "echo = { warn = 3, deny = 5 }", "max_depth = 2", 'max_duration = "2m"', "echo = { warn = 3, deny = 7 }"]);
  expect(withValues(TEXT, {})).toBe(TEXT);
});

test("what differs from the defaults is known by rule and by value", () => {
  const words = { verdicts: [], why: "", resets: "", tune: "", odd: [] };
  const rules = [{ ...words, id: "flow.depth", keys: ["flow.max_depth"], trips: "too deep" }, { ...words, id: "session.killed", keys: [], trips: "killed" }];
  const [flowFamily, sessions] = families(TEXT, { text: TEXT.replace("shadow", "enforce").replace("max_depth = 5", "max_depth = 6"), rules });
  expect(flowFamily?.rules).toEqual([{ id: "flow.depth", mode: "shadow", standard: "enforce", trips: "too deep" }]);
  expect(flowFamily?.values.filter((value) => value.differs)).toEqual([{ key: "flow.max_depth", value: "5", standard: "6", differs: true }]);
  expect(sessions?.rules[0]?.mode).toBe("always");
});

test("a policy with an override is not called the default", () => {
  expect(summary(0, 0)).toBe("All values are the defaults.");
  expect(summary(0, 1)).toBe("All values are the defaults; 1 override sets others for some agents or sessions.");
  expect(summary(3, 2)).toBe("3 values differ from the defaults; 2 overrides set others for some agents or sessions.");
  const { overrides, tools } = readValues('[[tool]]\nmatch = "ask_*"\nkind = "poll"\n\n[[override]]\nagent = "a"\nflow.max_depth = 2\n');
  expect([overrides.length, tools.length, tools[0]?.get("kind")]).toEqual([1, 1, "poll"]);
});
