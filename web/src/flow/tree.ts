// The call tree of a flow, laid out: depth goes to the right, branches go down. Refused calls are part
// of the picture: whoever would have been called stands there as a ghost.
import type { Decision, Flow, FlowCall } from "../api/shapes.ts";

export interface Node {
  key: string;
  id: string;
  agent: string | null;
  /** How many of its messages and calls were refused. */
  refusals: number;
  /** Only refused calls lead here. */
  refused: FlowCall | null;
  /** What stopped the session for good. */
  stopped: "block" | "kill" | null;
  x: number;
  y: number;
  depth: number;
}

export interface Edge {
  key: string;
  from: Node;
  to: Node;
  kind: "call" | "return" | "refused";
  count: number;
  verdict: Decision;
  calls: FlowCall[];
}

export interface Tree {
  nodes: Node[];
  edges: Edge[];
  width: number;
  height: number;
}

export const NODE = { width: 152, height: 52, gapX: 48, gapY: 16 };
const REFUSES: Decision[] = ["ask", "deny", "block", "kill"];
const STOPS = { active: null, blocked: "block", killed: "kill" } as const;

export function tree(flow: Flow): Tree {
  const nodes = new Map<string, Node>();
  const children = new Map<string | null, string[]>();
  const add = (node: Node, parent: string | null) => {
    nodes.set(node.key, node);
    children.set(parent, [...(children.get(parent) ?? []), node.key]);
  };
  const known = new Set(flow.sessions.map((session) => session.session));
  const ghosts = new Set(flow.calls.filter((call) => isRefused(call) && needsGhost(flow, call)).map((call) => call.to));
  for (const session of flow.sessions) {
    // In the list only because somebody was not allowed to call it.
    if (ghosts.has(session.session)) continue;
    const parent = session.parent !== null && known.has(session.parent) && session.parent !== session.session ? session.parent : null;
    add({ key: session.session, id: session.session, agent: session.agent, refusals: session.refused, refused: null, stopped: STOPS[session.state ?? "active"], x: 0, y: 0, depth: 0 }, parent);
  }
  for (const call of flow.calls) {
    if (!isRefused(call) || call.from === null) continue;
    const key = `refused ${call.from} ${call.to}`;
    if (nodes.has(key) || nodes.has(call.to)) continue;
    const parent = nodes.has(call.from) ? call.from : null;
    add({ key, id: call.to, agent: null, refusals: 0, refused: call, stopped: null, x: 0, y: 0, depth: 0 }, parent);
  }
  const height = place(nodes, children);
  const list = [...nodes.values()];
  const deepest = Math.max(0, ...list.map((node) => node.depth));
  return { nodes: list, edges: edges(flow, nodes, children), width: (deepest + 1) * (NODE.width + NODE.gapX) - NODE.gapX, height };
}

export function isRefused(call: FlowCall): boolean {
  return REFUSES.includes(call.verdict);
}

/** A refused call to a session that is in the flow only because of it. */
function needsGhost(flow: Flow, call: FlowCall): boolean {
  return !flow.calls.some((other) => !isRefused(other) && (other.to === call.to || other.from === call.to));
}

/** Leaves get a row each, a parent stands in the middle of its children. Answers the height. */
function place(nodes: Map<string, Node>, children: Map<string | null, string[]>): number {
  let row = 0;
  const placed = new Set<string>();
  const visit = (key: string, depth: number): void => {
    const node = nodes.get(key);
    if (!node || placed.has(key)) return;
    placed.add(key);
    node.depth = depth;
    node.x = depth * (NODE.width + NODE.gapX);
    const below = (children.get(key) ?? []).filter((child) => !placed.has(child));
    if (below.length === 0) {
      node.y = row * (NODE.height + NODE.gapY);
      row += 1;
      return;
    }
    for (const child of below) visit(child, depth + 1);
    const [first, last] = [nodes.get(below[0] ?? ""), nodes.get(below.at(-1) ?? "")];
    node.y = ((first?.y ?? 0) + (last?.y ?? 0)) / 2;
  };
  for (const root of children.get(null) ?? []) visit(root, 0);
  // Parents that form a ring have no root; whoever is left starts a tree of its own.
  for (const key of nodes.keys()) visit(key, 0);
  return Math.max(1, row) * (NODE.height + NODE.gapY) - NODE.gapY;
}

function edges(flow: Flow, nodes: Map<string, Node>, children: Map<string | null, string[]>): Edge[] {
  const found = new Map<string, Edge>();
  const parentOf = new Map<string, string>();
  for (const [parent, keys] of children) for (const key of keys) if (parent !== null) parentOf.set(key, parent);
  const put = (key: string, from: Node, to: Node, kind: Edge["kind"], call: FlowCall | null) => {
    const edge = found.get(key) ?? { key, from, to, kind, count: 0, verdict: "allow" as Decision, calls: [] };
    if (call) {
      edge.count += 1;
      edge.calls.push(call);
      if (call.verdict !== "allow") edge.verdict = call.verdict;
    }
    found.set(key, edge);
  };
  for (const [key, parent] of parentOf) {
    const [from, to] = [nodes.get(parent), nodes.get(key)];
    if (from && to) put(`${from.key} > ${to.key}`, from, to, to.refused ? "refused" : "call", null);
  }
  for (const call of flow.calls) {
    if (call.from === null) continue;
    const from = nodes.get(call.from);
    const ghost = nodes.get(`refused ${call.from} ${call.to}`);
    const to = isRefused(call) && ghost ? ghost : nodes.get(call.to);
    if (!from || !to || from === to) continue;
    const key = `${from.key} > ${to.key}`;
    const kind = isRefused(call) ? "refused" : call.is_return || parentOf.get(from.key) === to.key ? "return" : "call";
    put(found.get(key)?.kind === "call" && kind === "refused" ? `${key} refused` : key, from, to, kind, call);
  }
  return [...found.values()];
}
