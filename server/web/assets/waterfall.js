// waterfall.js arranges a trace of up to some ten thousand spans. It is pure: spans in, rows and
// places out. waterfallcanvas.js draws the result.
//
// Spans are those of POST /v1/runtime/trace: in tree order, with depth, offset_ns and duration_ns.
import { gather, parentsOf, rowsOf, sizesOf } from "./tree.js";

// arrange returns what drawing needs to know of a trace. Times are nanoseconds from its start.
export function arrange(spans) {
  const parents = parentsOf(spans);
  const hidden = (s) => ({ failed: s.failed ? 1 : 0, spans: 1, end: s.offset_ns + s.duration_ns });
  return {
    spans, parents, sizes: sizesOf(spans),
    below: gather(spans, hidden, (a, b) => ({ failed: a.failed + b.failed, spans: a.spans + b.spans, end: Math.max(a.end, b.end) })),
    critical: criticalPath(spans, parents),
    end: spans.reduce((t, s) => Math.max(t, s.offset_ns + s.duration_ns), 1),
    services: [...new Set(spans.map((s) => s.service))].sort(),
  };
}

// rows returns the indexes of the spans to show.
export const rows = (trace, collapsed) => rowsOf(trace.sizes, collapsed);

// criticalPath returns, for each span on the critical path, the pieces of time that it adds to it:
// a Map from index to [[from, to], …]. From the end of a span, the path goes to the child that ended
// last before that time, then from its start to the next one; what is between is the span's own.
export function criticalPath(spans, parents = parentsOf(spans)) {
  const children = new Map();
  parents.forEach((p, i) => {
    if (!children.has(p)) children.set(p, []);
    children.get(p).push(i);
  });
  const end = (i) => spans[i].offset_ns + spans[i].duration_ns;
  for (const list of children.values()) list.sort((a, b) => end(b) - end(a));
  const path = new Map();
  const own = (i, from, to) => {
    if (to <= from) return;
    if (!path.has(i)) path.set(i, []);
    path.get(i).push([from, to]);
  };
  const tops = children.get(-1) ?? [];
  if (!tops.length) return path;
  // The longest of the roots is the one that people waited for.
  const root = tops.reduce((a, b) => (spans[b].duration_ns > spans[a].duration_ns ? b : a));
  const todo = [[root, end(root)]];
  while (todo.length) {
    const [i, until] = todo.pop();
    const start = spans[i].offset_ns;
    let at = Math.min(until, end(i));
    if (!path.has(i)) path.set(i, []);
    for (const child of children.get(i) ?? []) {
      const from = spans[child].offset_ns, to = Math.min(end(child), at);
      // A child that ended after the last one began was not waited for; one that ends after its parent
      // was, as far as clocks can be trusted.
      if (to <= start || from >= at || (at < Math.min(until, end(i)) && end(child) > at)) continue;
      own(i, to, at);
      todo.push([child, to]);
      at = Math.max(start, from);
      if (at <= start) break;
    }
    own(i, start, at);
  }
  return path;
}

// ticks returns round times between two times, at most n.
export function ticks(from, to, n) {
  const step = niceStep((to - from) / Math.max(1, n)), out = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(t);
  return out;
}

function niceStep(raw) {
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1e-9)));
  return power * ([1, 2, 5, 10].find((m) => m * power >= raw) ?? 10);
}

// overview returns for each of some columns of time what runs in it: {depth, failed, critical},
// to draw a whole trace in a strip.
export function overview(trace, columns) {
  const out = Array.from({ length: columns }, () => ({ spans: 0, failed: false, critical: false }));
  const column = (t) => Math.min(columns - 1, Math.max(0, Math.floor(t / trace.end * columns)));
  const change = new Int32Array(columns + 1);
  for (const s of trace.spans) {
    const a = column(s.offset_ns), b = column(s.offset_ns + s.duration_ns);
    change[a]++;
    change[b + 1]--;
    if (s.failed) for (let i = a; i <= b; i++) out[i].failed = true;
  }
  for (let i = 0, n = 0; i < columns; i++) out[i].spans = n += change[i];
  for (const pieces of trace.critical.values()) for (const [a, b] of pieces) for (let i = column(a); i <= column(b); i++) out[i].critical = true;
  return out;
}

// duration writes nanoseconds with a unit, in three digits.
export function duration(ns) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (ns >= size * 0.9995) return (ns / size).toFixed(ns >= 99.95 * size ? 0 : ns >= 9.995 * size ? 1 : 2).replace(/\.0+$/, "") + " " + unit;
  }
  return Math.round(ns) + " ns";
}
