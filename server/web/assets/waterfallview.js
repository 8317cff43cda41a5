// waterfallview.js: a trace as a waterfall, on a canvas. The view beside it has the same as a table.

import { announce, color, html, useLayoutEffect, useMemo, useRef, useTheme } from "./dom.js";
import { word } from "./parts.js";
import { arrange } from "./waterfall.js";
import { WaterfallCanvas } from "./waterfallcanvas.js";

/** cleaned returns spans whose texts can be drawn. */
const cleaned = (spans) => spans.map((s) => ({ ...s, service: word(s.service), operation: word(s.operation || s.name) }));

export function Waterfall({ spans, selected, onSelect, match }) {
  const box = useRef(null), canvas = useRef(null), spacer = useRef(null), view = useRef(null), latest = useRef({});
  latest.current = onSelect;
  const theme = useTheme();
  const trace = useMemo(() => arrange(cleaned(spans)), [spans]);
  // Layout effects: one that came later would see a choice made meanwhile, and take it back.
  useLayoutEffect(() => {
    const w = new WaterfallCanvas(box.current, canvas.current, spacer.current, { color, say: announce, select: (i) => latest.current?.(i) });
    view.current = w;
    return () => w.destroy();
  }, []);
  useLayoutEffect(() => { view.current.show(trace, { collapsed: view.current.trace === trace ? view.current.collapsed : new Set(), selected, match }); }, [trace, match]);
  useLayoutEffect(() => { view.current.recolor(); }, [theme]);
  useLayoutEffect(() => { if (view.current.selected !== selected) { view.current.reveal(selected); } }, [selected]);
  const w = () => view.current;
  return html`<figure class="graph">
    <div class="bar" role="toolbar" aria-label="Waterfall">
      <button type="button" onClick=${() => w().zoomTo(0, trace.end)} title="0">Whole</button>
      <button type="button" onClick=${() => w().zoom(1.5)} aria-label="Zoom in">+</button><button type="button" onClick=${() => w().zoom(1 / 1.5)} aria-label="Zoom out">−</button>
      <button type="button" onClick=${() => w().foldBelow(1)}>Fold</button><button type="button" onClick=${() => w().foldBelow(Infinity)}>Unfold</button>
      <span class="key is-text">on the critical path</span><span class="key is-bad">failed</span>
      <span class="dim hint">↑ ↓ walk, ← → fold, n next failure, z zoom to span</span>
    </div>
    <div ref=${box} class="waterfall" tabindex="0" role="application" aria-roledescription="waterfall" aria-label=${`Waterfall of ${spans.length} spans. Up and down walk, left and right fold, n goes to the next failure. The table has the same.`}><canvas ref=${canvas}></canvas><div ref=${spacer}></div></div>
  </figure>`;
}
