// Frames while drawings move: a graph of 5,000 nodes, folded, half open, open and without groups, and
// a trace of 10,000 spans. The value is a promise of {name: {median, p95, most, frames}}, the times
// between frames in milliseconds. It runs in a page of the site, whose modules it imports.
(async () => {
  const base = document.querySelector("link[rel=stylesheet]").href.replace(/style\.css$/, "");
  const [graph, { GraphCanvas }, waterfall, { WaterfallCanvas }, { color }] = await Promise.all(["graph", "graphcanvas", "waterfall", "waterfallcanvas", "dom"].map((m) => import(base + m + ".js")));
  let seed = 1; // Park and Miller's generator, so that every run draws the same
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const later = (ms) => new Promise((r) => setTimeout(r, ms));
  const frames = (move, n = 120) => new Promise((done) => {
    const took = [];
    let last, i = 0;
    const next = (now) => {
      if (last !== undefined) took.push(now - last);
      last = now;
      if (i === n) {
        took.sort((a, b) => a - b);
        const at = (q) => Math.round(took[Math.min(took.length - 1, Math.floor(took.length * q))] * 10) / 10;
        return done({ median: at(0.5), p95: at(0.95), most: at(1), frames: took.length });
      }
      move(i++);
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  const stage = document.createElement("div");
  document.getElementById("main").replaceChildren(stage);
  const out = {};

  const nodes = [], edges = [];
  for (let i = 0; i < 5000; i++) {
    const rank = Math.min(6, Math.floor(Math.log2(i + 1) / 2));
    nodes.push({ id: "n" + i, label: "pkg.Symbol" + i, group: "internal/part" + (Math.floor(random() * 20) + 20 * rank), rank });
    for (let k = 0; i && k < 1 + i % 2; k++) edges.push({ from: "n" + Math.floor(random() * i), to: "n" + i });
  }
  const groups = [...new Set(nodes.map((n) => n.group))];
  const flat = nodes.map(({ group, ...n }) => n);
  for (const [name, of, open] of [["folded", nodes, []], ["half open", nodes, groups.filter((_, i) => i % 2)], ["open", nodes, groups], ["without groups", flat, []]]) {
    const canvas = document.createElement("canvas");
    canvas.className = "canvas tall";
    stage.replaceChildren(canvas);
    const began = performance.now();
    const scene = graph.layout(graph.fold({ nodes: of, edges }, new Set(open)));
    out[`graph ${name}: layout`] = Math.round(performance.now() - began);
    const g = new GraphCanvas(canvas, { color });
    g.show(scene);
    await later(500);
    out[`graph ${name}: pan`] = await frames((i) => g.look({ ...g.view, x: g.view.x + 6 * Math.sin(i / 9), y: g.view.y + 4 * Math.cos(i / 7) }));
    await later(400);
    out[`graph ${name}: zoom`] = await frames((i) => g.zoom(i < 60 ? 1.03 : 1 / 1.03));
    g.fit();
    g.zoom(4);
    await later(400);
    out[`graph ${name}: pan near`] = await frames(() => g.look({ ...g.view, x: g.view.x - 6 }));
    g.destroy();
  }

  const spans = [];
  const add = (depth, offset_ns, duration_ns) => spans.push({ depth, offset_ns, duration_ns, service: "service" + depth % 7, operation: "GET /carts/{id}", failed: random() < 0.01 });
  add(0, 0, 1e9);
  while (spans.length < 10000) {
    add(1, spans.length * 9e4, 8e6);
    for (let i = 0; i < 9; i++) add(2 + i % 4, spans.length * 9e4, 2e6 * random());
  }
  const box = document.createElement("div"), canvas = document.createElement("canvas"), spacer = document.createElement("div");
  box.className = "waterfall";
  box.append(canvas, spacer);
  stage.replaceChildren(box);
  const w = new WaterfallCanvas(box, canvas, spacer, { color });
  w.show(waterfall.arrange(spans));
  await later(300);
  out["trace: scroll"] = await frames((i) => { box.scrollTop = i * 997 % 200000; });
  out["trace: zoom"] = await frames((i) => w.zoom(i < 60 ? 1.05 : 1 / 1.05, 5e8));
  out["trace: fold"] = await frames((i) => w.foldBelow(i % 2 ? 1 : Infinity), 40);
  w.destroy();
  return out;
})()
