import { expect, test } from "@playwright/test";
import type { Flow, FlowCall } from "../../src/api/shapes.ts";
import { NODE, tree } from "../../src/flow/tree.ts";
import { coloured } from "../../src/policy/colours.ts";
import { diff, hunks } from "../../src/policy/diff.ts";
import { shown } from "../../src/policy/values.ts";

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
  expect([5, "5m", true, [], ["a", "b"], { warn: 3, block: 5 }, null].map(shown)).toEqual(["5", "5m", "true", "none", "a, b", "warn 3, block 5", "–"]);
});

function message(seq: number, from: string | null, to: string, verdict: FlowCall["verdict"] = "allow"): FlowCall {
  return { seq, at: seq, from, to, kind: "say", depth: 1, is_return: false, verdict, rule: null, message: null, stack: [] };
}

function flow(parents: Record<string, string | null>, calls: FlowCall[]): Flow {
  const sessions = Object.entries(parents).map(([id, parent]) => ({ id, agent: null, parent, depth: 1, state: "active" as const }));
  return { id: "f", started_by: null, age_ms: 1, calls: calls.length, depth_max: 2, sessions, calls_list: calls, next: null };
}

test("parallel branches stand side by side, and a refused call is a ghost", () => {
  const laid = tree(flow({ root: null, a: "root", b: "root" }, [message(1, "root", "a"), message(2, "root", "b"), message(3, "a", "root"), message(4, "b", "deep", "deny")]));
  const place = (key: string) => laid.nodes.find((node) => node.key === key);
  expect([place("root")?.depth, place("a")?.depth, place("b")?.depth, place("refused b deep")?.depth]).toEqual([0, 1, 1, 2]);
  expect(place("a")?.y).not.toBe(place("b")?.y);
  expect(laid.edges.map((edge) => `${edge.from.id}>${edge.to.id} ${edge.kind}`).sort()).toEqual(["a>root return", "b>deep refused", "root>a call", "root>b call"]);
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
