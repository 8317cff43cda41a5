// Tests of the modules that compute drawings: graph.js, tree.js, waterfall.js, chart.js, impact.js
// and the hex dump. The value is a promise of what failed, [] if nothing did. It runs in a page of
// the site, whose modules it imports.
(async () => {
  const base = document.querySelector("link[rel=stylesheet]").href.replace(/style\.css$/, "");
  const [graph, tree, waterfall, chart, impact, tail] = await Promise.all(["graph", "tree", "waterfall", "chart", "impact", "views/logtail"].map((m) => import(base + m + ".js")));
  const failed = [];
  const same = (why, got, want) => {
    const [g, w] = [JSON.stringify(got), JSON.stringify(want)];
    if (g !== w) failed.push(`${why}: ${g}, want ${w}`);
  };
  const holds = (why, ok, seen) => { if (!ok) failed.push(why + (seen === undefined ? "" : ": " + JSON.stringify(seen))); };

  { // folding
    const g = {
      nodes: [{ id: "a", label: "A", group: "p" }, { id: "b", label: "B", group: "p", state: "bad" }, { id: "c", label: "C", group: "q" }, { id: "d", label: "D", group: "q" }, { id: "e", label: "E", group: "r" }],
      edges: [{ from: "a", to: "b" }, { from: "a", to: "c" }, { from: "b", to: "d" }, { from: "c", to: "e", state: "good" }, { from: "d", to: "nobody" }],
    };
    const shut = graph.fold(g);
    same("groups fold into boxes, a group of one is its node", shut.boxes.map((b) => [b.id, b.kind, b.count, b.state]), [["group:p", "folded", 2, "bad"], ["group:q", "folded", 2, ""], ["e", "node", 1, ""]]);
    same("edges between folded groups are one link, those within are none", shut.links.map((l) => [l.from, l.to, l.count, l.state]), [["group:p", "group:q", 2, ""], ["group:q", "e", 1, "good"]]);
    const open = graph.fold(g, new Set(["p"]));
    same("members of an open group have links of their own", open.links.map((l) => [l.from, l.to, l.count]), [["a", "b", 1], ["a", "group:q", 1], ["b", "group:q", 1], ["group:q", "e", 1]]);
    const scene = graph.layout(open);
    const box = scene.items[scene.at.get("group:p")];
    for (const id of ["a", "b"]) {
      const m = scene.items[scene.at.get(id)];
      holds("a member lies within its box", m.x >= box.x && m.y >= box.y && m.x + m.w <= box.x + box.w && m.y + m.h <= box.y + box.h, [m, box]);
    }
    same("links name their items", scene.links.map((l) => [scene.items[l.a].id, scene.items[l.b].id]), open.links.map((l) => [l.from, l.to]));
    holds("what is called stands to the right", scene.items[scene.at.get("e")].x > scene.items[scene.at.get("group:q")].x && scene.items[scene.at.get("group:q")].x > box.x);
    same("an empty graph is an empty scene", graph.layout(graph.fold({ nodes: [], edges: [] })).items, []);
    const cycle = graph.layout(graph.fold({ nodes: [{ id: "x", label: "x" }, { id: "y", label: "y" }], edges: [{ from: "x", to: "y" }, { from: "y", to: "x" }] }));
    holds("a cycle has places too", cycle.items.every((i) => Number.isFinite(i.x) && Number.isFinite(i.y)), cycle.items);
  }
  // hidden returns the links that pass behind a box at which they neither begin nor end.
  const hidden = (items, outer, links) => links.filter((l) => {
    const own = [items[l.a].group, items[l.b].group];
    for (let i = 0; i + 7 < l.path.length; i += 6) for (let t = 0; t <= 1; t += 0.1) {
      const u = 1 - t, p = l.path.slice(i, i + 8), at = (k) => u * u * u * p[k] + 3 * u * u * t * p[k + 2] + 3 * u * t * t * p[k + 4] + t * t * t * p[k + 6];
      if (outer.some((o) => !own.includes(o.group) && at(0) > o.x && at(0) < o.x + o.w && at(1) > o.y && at(1) < o.y + o.h)) return true;
    }
    return false;
  }).map((l) => l.from + " " + l.to);
  { // 5,000 nodes: no two overlap, whatever is open
    const nodes = [], edges = [];
    for (let i = 0; i < 5000; i++) {
      nodes.push({ id: "n" + i, label: "pkg.Symbol" + i, group: "p" + (i % 97), rank: Math.floor(Math.log2(i + 1)) });
      if (i) edges.push({ from: "n" + Math.floor(i / 2), to: "n" + i });
    }
    for (const open of [new Set(), new Set(["p1", "p2"]), new Set(nodes.map((n) => n.group))]) {
      const { items, links } = graph.layout(graph.fold({ nodes, edges }, open));
      const outer = items.filter((i) => i.kind !== "member").sort((a, b) => a.y - b.y);
      let overlaps = 0;
      for (let i = 0; i < outer.length; i++) for (let j = i + 1; j < outer.length && outer[j].y < outer[i].y + outer[i].h; j++) {
        if (outer[i].x < outer[j].x + outer[j].w && outer[j].x < outer[i].x + outer[i].w) overlaps++;
      }
      same(`boxes overlap with ${open.size} open`, overlaps, 0);
      if (open.size < 90) same(`links pass behind boxes with ${open.size} open`, hidden(items, outer, links), []);
      same("every node is shown, by itself or in a box", items.filter((i) => i.kind !== "open").reduce((n, i) => n + i.count, 0), 5000);
    }
    const mesh = graph.layout(graph.fold({ nodes: nodes.slice(0, 60).map((n) => ({ id: n.id, label: n.label })), edges: nodes.slice(0, 60).flatMap((a) => nodes.slice(0, 60).filter((b) => b !== a).map((b) => ({ from: a.id, to: b.id }))) }));
    holds("where all call all, the drawing is no endless row", mesh.width < 12 * mesh.height, [mesh.width, mesh.height]);
  }
  { // walking and texts
    const at = (id, x, y) => ({ id, x, y, w: 10, h: 10 });
    const scene = { items: [at("o", 0, 0), at("r", 50, 0), at("far", 200, 0), at("slant", 40, 60), at("u", 0, -40)] };
    same("steps", ["right", "left", "up", "down"].map((d) => graph.step(scene, scene.items[0], d)?.id), ["r", undefined, "u", "slant"]);
    same("shorten", ["abc", "abcdefghij"].map((t) => graph.shorten(t, 5)), ["abc", "ab…ij"]);
  }
  { // trees
    const items = [0, 1, 2, 1, 0, 1].map((depth) => ({ depth }));
    same("sizes", [...tree.sizesOf(items)], [4, 2, 1, 1, 2, 1]);
    same("parents", [...tree.parentsOf(items)], [-1, 0, 1, 0, -1, 4]);
    same("rows", tree.rowsOf(tree.sizesOf(items), new Set([1, 4])), [0, 1, 3, 4]);
    same("gather", tree.gather(items, () => 1, (a, b) => a + b), [4, 2, 1, 1, 2, 1]);
    same("paths", tree.pathTree(["a/b/c", "a/b/d", "x/y"]).map((p) => [p.name, p.depth, p.leaf]), [["a/b", 0, undefined], ["c", 1, "a/b/c"], ["d", 1, "a/b/d"], ["x/y", 0, "x/y"]]);
  }
  { // traces
    const s = (depth, offset_ns, duration_ns, more) => ({ depth, offset_ns, duration_ns, service: "s" + depth, operation: "o", ...more });
    const path = (spans) => [...waterfall.criticalPath(spans)].sort((a, b) => a[0] - b[0]);
    same("the path goes to what ended last, and what is between is one's own", path([s(0, 0, 100), s(1, 10, 30), s(1, 20, 60), s(2, 30, 40)]), [[0, [[80, 100], [0, 20]]], [2, [[70, 80], [20, 30]]], [3, [[30, 70]]]]);
    same("of children side by side, one is waited for", path([s(0, 0, 100), s(1, 0, 50), s(1, 10, 80), s(1, 20, 60)]), [[0, [[90, 100], [0, 10]]], [2, [[10, 90]]]]);
    same("children one after the other are all on it", path([s(0, 0, 100), s(1, 0, 40), s(1, 40, 60)]), [[0, []], [1, [[0, 40]]], [2, [[40, 100]]]]);
    same("a clock that is late hides no child", path([s(0, 0, 100), s(1, 10, 95)]), [[0, [[0, 10]]], [1, [[10, 100]]]]);
    same("no span, no path", path([]), []);
    const t = waterfall.arrange([s(0, 0, 100), s(1, 10, 20, { failed: true }), s(1, 40, 10)]);
    same("what is below a span", t.below[0], { failed: 1, spans: 3, end: 100 });
    same("collapsed", waterfall.rows(t, new Set([0])), [0]);
    const strip = waterfall.overview(t, 10);
    same("overview", [strip.map((c) => c.spans), strip.map((c) => (c.failed ? 1 : 0)).join("")], [[1, 2, 2, 2, 2, 2, 1, 1, 1, 1], "0111000000"]);
    same("durations", [999, 1000, 1234567, 999600, 12.34e9, 0].map(waterfall.duration), ["999 ns", "1 µs", "1.23 ms", "1 ms", "12.3 s", "0 ns"]);
    same("ticks", waterfall.ticks(0, 1e9, 6), [0, 2e8, 4e8, 6e8, 8e8, 1e9]);
  }
  { // charts
    same("nice", [0, 0.3, 1, 1.1, 49, 51, 1e6].map(chart.nice), [1, 0.5, 1, 2, 50, 100, 1e6]);
    same("a gap breaks a line", chart.line([1, null, 2, 3], 90, 20), "M0 16h3M60 12L90 8");
    same("bars are stacked", chart.bars([[1, 2], [1, 0]], 10, 10).rects.map((r) => [r.of, r.index, r.y, r.height]), [[0, 0, 5, 5], [1, 0, 0, 5], [0, 1, 0, 10]]);
  }
  { // impact
    const sym = (name, distance, via, more) => ({ repo: "r", file: name + ".go", name, package: "r/p" + distance, kind: "function", distance, via, edge: "calls", confidence: 1, ...more });
    const answer = (extra) => ({ changed: [{ repo: "r", file: "x.go", name: "x", package: "r/x" }], groups: [{ symbols: [sym("a", 1, "x"), sym("b", 2, "a"), ...extra] }], tests: [sym("t", 1, "x", { test: true })] });
    const one = impact.impactGraph(answer([]));
    same("edges lead from what changes", one.edges.map((e) => [e.from.split("\n")[2], e.to.split("\n")[2]]), [["x", "a"], ["a", "b"]]);
    same("tests stand apart unless they are wanted", [one.nodes.length, impact.impactGraph(answer([]), { tests: true }).nodes.length], [3, 4]);
    const both = impact.compared(one, impact.impactGraph(answer([sym("c", 1, "x")])));
    same("what only one revision has", [both.gone.map((n) => n.label), both.fresh.map((n) => [n.label, n.state])], [[], [["c", "good"]]]);
    same("symbols of one name in one file stay apart", impact.impactGraph(answer([sym("a", 1, "x")])).nodes.length, 4);
  }
  same("hex", tail.hex(Uint8Array.from([0, 65, 255])), "000000  00 41 ff                                         .A.");
  return failed;
})()
