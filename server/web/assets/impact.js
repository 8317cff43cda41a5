// impact.js turns the answer of POST /v1/code/impact into a graph for graph.js. It is pure.

export const symbolID = (s) => s.repo + "\n" + s.file + "\n" + s.name + "\n" + (s.variant ?? "");

/**
 * impactGraph returns the graph of what a change reaches. An answer names for each symbol the one
 * that it uses (via) by name; among several of that name it is the one that is one step nearer.
 * Packages are the groups; distance is the rank.
 */
export function impactGraph(answer, { tests = false } = {}) {
  const nodes = [], byName = new Map(), seen = new Set();
  const add = (s, rank, state) => {
    let id = symbolID(s);
    for (let n = 2; seen.has(id); n++) id = symbolID(s) + "\n" + n; // several init of a file
    seen.add(id);
    const group = (s.repo && s.package?.startsWith(s.repo) ? s.package.slice(s.repo.length + 1) || "." : s.package || folderOf(s.file)) + (s.test ? " (tests)" : "");
    const n = { id, label: shortName(s.name), title: `${s.name}, ${s.file}:${s.line ?? ""}`, group, rank, state, symbol: s };
    nodes.push(n);
    if (!byName.has(s.name)) byName.set(s.name, []);
    byName.get(s.name).push(n);
  };
  for (const s of answer.changed) add(s, 0, "mark");
  const all = answer.groups.flatMap((g) => g.symbols).concat(answer.documents ?? []);
  for (const s of tests ? all.concat(answer.tests) : all) add(s, s.distance, "");
  const edges = [];
  for (const n of nodes) {
    const s = n.symbol;
    if (!s.via) continue;
    const candidates = byName.get(s.via) ?? [];
    const via = candidates.find((c) => c.rank === s.distance - 1) ?? candidates[0];
    if (via && via !== n) edges.push({ from: via.id, to: n.id, kind: s.edge, site: s.site, confidence: s.confidence });
  }
  return { nodes, edges };
}

/** shortName is a symbol's name without its package: the last two parts. */
export const shortName = (name) => name.split(".").slice(-2).join(".");

const folderOf = (file) => file.slice(0, Math.max(0, file.lastIndexOf("/"))) || ".";

/**
 * compared marks in two graphs what only one of them has, and returns both and their union.
 * "bad": it is reached no more; "good": it is reached only now.
 */
export function compared(before, after) {
  const was = new Set(before.nodes.map((n) => n.id)), is = new Set(after.nodes.map((n) => n.id));
  const mark = (nodes, other, state) => nodes.map((n) => (n.state === "mark" || other.has(n.id) ? n : { ...n, state }));
  const a = { nodes: mark(before.nodes, is, "bad"), edges: before.edges };
  const b = { nodes: mark(after.nodes, was, "good"), edges: after.edges };
  const union = { nodes: [...a.nodes.filter((n) => !is.has(n.id)), ...b.nodes], edges: [...a.edges, ...b.edges] };
  return { before: a, after: b, union, gone: a.nodes.filter((n) => !is.has(n.id)), fresh: b.nodes.filter((n) => !was.has(n.id)) };
}
