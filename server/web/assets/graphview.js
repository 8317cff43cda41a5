// graphview.js: a graph on a canvas, with buttons and keys, and what it says to a screen reader. The
// view beside it has the same as a table.
//
//   html`<${Graph} graph=${{nodes, edges}} label="…" open=${Set} setOpen=${…} selected=${id}
//        onSelect=${(item) => …} legend=${[["bad", "fails"], …]} />`
//
// Two graphs with one view (a ref of {members: []}) pan and zoom together.

import { announce, color, html, useLayoutEffect, useMemo, useRef, useTheme } from "./dom.js";
import { word } from "./parts.js";
import { fold, layout } from "./graph.js";
import { GraphCanvas } from "./graphcanvas.js";

/** cleaned returns a graph whose texts can be drawn: what reorders or hides text is written out. */
function cleaned(graph) {
  return { ...graph, nodes: graph.nodes.map((n) => ({ ...n, label: word(n.label), title: word(n.title ?? n.label) })) };
}

export function Graph({ graph, places, label, open, setOpen, selected, onSelect, onEnter, legend = [], together, height = "" }) {
  const canvas = useRef(null), view = useRef(null), anchor = useRef(undefined), latest = useRef({});
  latest.current = { onSelect, onEnter, open, setOpen };
  const theme = useTheme();
  const scene = useMemo(() => {
    const clean = cleaned(graph);
    const s = layout(fold(clean, open));
    // Where another graph gives the places, both are laid out as one and each shows its own part.
    if (!places) return s;
    const own = new Set(clean.nodes.map((n) => n.id)), whole = layout(fold(cleaned(places), open));
    return within(whole, own);
  }, [graph, places, open]);
  // Layout effects: one that came later would see a choice made meanwhile, and take it back.
  useLayoutEffect(() => {
    const toggle = (item) => {
      const { open: now, setOpen: set, onEnter: enter } = latest.current;
      if (item.kind === "folded" || item.kind === "open") {
        const next = new Set(now);
        if (!next.delete(item.group)) next.add(item.group);
        anchor.current = item.group;
        set?.(next);
      } else enter?.(item);
    };
    let g; // the constructor moves the view already
    g = new GraphCanvas(canvas.current, {
      color, say: announce, open: toggle, select: (item) => latest.current.onSelect?.(item),
      moved: (v) => together?.current.members.forEach((m) => m !== g && m.look(v, true)),
    });
    view.current = g;
    together?.current.members.push(g);
    return () => {
      g.destroy();
      if (together) together.current.members = together.current.members.filter((m) => m !== g);
    };
  }, []);
  useLayoutEffect(() => {
    view.current.show(scene, anchor.current);
    anchor.current = undefined;
  }, [scene]);
  useLayoutEffect(() => { view.current.recolor(); }, [theme]);
  useLayoutEffect(() => { if (selected !== view.current.selected) view.current.select(selected, true); }, [selected, scene]);
  const groups = useMemo(() => [...new Set(graph.nodes.map((n) => n.group))], [graph]);
  return html`<figure class="graph">
    <div class="bar" role="toolbar" aria-label=${"Drawing: " + label}>
      <button type="button" onClick=${() => view.current.fit()} title="0">Fit</button>
      <button type="button" onClick=${() => view.current.zoom(1.4)} aria-label="Zoom in">+</button>
      <button type="button" onClick=${() => view.current.zoom(1 / 1.4)} aria-label="Zoom out">−</button>
      ${setOpen && html`<button type="button" onClick=${() => setOpen(new Set())} disabled=${open.size === 0}>Fold all</button>
        <button type="button" onClick=${() => setOpen(new Set(groups))} disabled=${open.size >= groups.length}>Open all</button>`}
      ${legend.map(([state, name]) => html`<span class=${"key is-" + state}>${name}</span>`)}
      <span class="dim hint">arrows walk, enter opens, + − 0 zoom, drag moves</span>
    </div>
    <canvas ref=${canvas} class=${"canvas " + height} tabindex="0" role="application" aria-roledescription="graph" aria-label=${`${label}: ${scene.items.length} things, ${scene.links.length} links. Arrow keys walk, enter opens a package or what is chosen. The table has the same.`}></canvas>
  </figure>`;
}

/** within returns the part of a scene that has some nodes. */
function within(scene, own) {
  const keep = scene.items.map((i) => i.nodes.some((n) => own.has(n.id)));
  const items = [], at = new Map(), moved = new Map();
  scene.items.forEach((i, n) => {
    if (!keep[n]) return;
    moved.set(n, items.length);
    at.set(i.id, items.length);
    items.push({ ...i, count: i.nodes.filter((x) => own.has(x.id)).length });
  });
  return { ...scene, items, at, links: scene.links.filter((l) => keep[l.a] && keep[l.b]).map((l) => ({ ...l, a: moved.get(l.a), b: moved.get(l.b) })) };
}
