// timelineview.js: the canvas of a timeline, with its mouse, touch and keys.
//
//   html`<${TimelineCanvas} model=${m} lanes=${lanes} range=${[from, to]} onRange=${f} marks=${marks}
//          edges=${edges} selected=${i} onSelect=${f} texts=${Map} cursor=${ms} limits=${[from, to]} />`
//
// Marks are what is no command (commits, failing traces): [{at, lane, title, href, bad, id}]. Edges join
// commands and marks: [{from, to, kind}], each end the index of a command or a mark. selected is such an
// end too. limits is how far one can move. texts has the commands' lines that are known, by index.

import { color, html, useEffect, useLayoutEffect, useMemo, useRef, useSize, useState, useTheme } from "./dom.js";
import { duration, oneLine, plain, when } from "./format.js";
import { bucket, first, nearest, ticks } from "./timeline.js";

const axis = 22, tall = 36, bar = 13, label = 118; // pixels: bar is from a lane's top to its bars
/** The smallest range in milliseconds, and the largest part of the data beside it. */
const shortest = 1000;

export function TimelineCanvas({ model, lanes, range, onRange, marks, edges, selected, onSelect, texts, cursor, limits }) {
  const [box, width] = useSize();
  const canvas = useRef(null);
  const theme = useTheme();
  const paint = useMemo(() => Object.fromEntries(["bg", "panel", "line", "text", "dim", "good", "bad", "warn", "link", "agent", "select"].map((n) => [n, color(n)])), [theme]);
  const [hover, setHover] = useState(null);
  const names = width < 560 ? 64 : label;
  const height = axis + lanes.length * tall + 4;
  const plot = Math.max(width - names, 10);
  const state = { model, lanes, range, marks, edges, selected, texts, cursor, limits, names, plot, width, height, paint };
  const latest = useRef(state);
  latest.current = { ...state, onRange, onSelect };

  useLayoutEffect(() => {
    if (width < 20) return undefined;
    const frame = requestAnimationFrame(() => draw(canvas.current, latest.current));
    return () => cancelAnimationFrame(frame);
  });

  useEffect(() => gestures(canvas.current, latest, setHover), []);

  const lane = hover && lanes[hover.lane];
  return html`<div class="timeline" ref=${box}>
    <canvas ref=${canvas} tabindex="0" role="img" aria-label=${`Timeline of ${model.n} commands in ${lanes.length} lanes from ${when(range[0])} to ${when(range[1])}; the commands in view are listed below. Arrow keys move, plus and minus zoom.`}></canvas>
    ${hover && lane && html`<div class="tip" style=${{ left: Math.min(hover.x + 10, Math.max(width - 300, 0)) + "px", top: hover.y + 14 + "px" }}>
      ${hover.mark ? html`<span>${plain(hover.mark.title)}</span>` : html`<code>${plain(oneLine(texts.get(hover.i) ?? "", 120)) || lane.name}</code>`}
      <div class="dim">${when(hover.mark ? hover.mark.at : model.at[hover.i])}${!hover.mark && model.took[hover.i] >= 0 && ", " + duration(model.took[hover.i] * 1e6)}${!hover.mark && model.outcome[hover.i] === 1 && ", failed"}</div></div>`}
  </div>`;
}

/** draw paints one frame. */
export function draw(canvas, s) {
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(s.width * ratio) || canvas.height !== Math.round(s.height * ratio)) {
    canvas.width = Math.round(s.width * ratio);
    canvas.height = Math.round(s.height * ratio);
    canvas.style.width = s.width + "px";
    canvas.style.height = s.height + "px";
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = s.paint.bg;
  g.fillRect(0, 0, s.width, s.height);
  const [from, to] = s.range, scale = s.plot / (to - from);
  const x = (t) => s.names + (t - from) * scale;
  g.font = "11px " + getComputedStyle(canvas).fontFamily;
  g.textBaseline = "middle";
  for (const tick of ticks(from, to, Math.max(2, s.plot / 90))) {
    g.fillStyle = s.paint.line;
    g.fillRect(Math.round(x(tick.at)), axis - 4, 1, s.height - axis + 4);
    g.fillStyle = s.paint.dim;
    g.fillText(tick.text, x(tick.at) + 3, axis / 2);
  }
  g.save();
  g.beginPath();
  g.rect(s.names, axis, s.plot, s.height - axis);
  g.clip();
  s.lanes.forEach((lane, k) => drawLane(g, s, lane, axis + k * tall, x, scale));
  drawMarks(g, s, x);
  drawEdges(g, s, x);
  if (s.cursor) {
    g.fillStyle = s.paint.warn;
    g.fillRect(Math.round(x(s.cursor)), axis, 1.5, s.height);
  }
  g.restore();
  s.lanes.forEach((lane, k) => {
    const y = axis + k * tall;
    g.fillStyle = s.paint.line;
    g.fillRect(0, y, s.width, 1);
    g.fillStyle = s.paint.text;
    g.fillText(fit(g, plain(lane.name), s.names - 12), 4, y + tall / 2);
  });
}

/** drawLane draws commands one by one where there is room, else their number by column. */
function drawLane(g, s, lane, y, x, scale) {
  if (!lane.index) return;
  const m = s.model, [from, to] = s.range;
  const lo = Math.max(first(m, lane, from) - 1, 0), hi = first(m, lane, to);
  if (hi - lo > s.plot / 3) {
    const n = Math.max(1, Math.floor(s.plot / 2)), b = bucket(m, lane, from, to, n);
    const high = tall - 6, log = Math.log1p(b.most);
    g.fillStyle = lane.kind === "deploys" ? s.paint.warn : s.paint.link;
    for (let i = 0; i < n; i++) {
      if (b.all[i] === 0) continue;
      const h = Math.max(2, (high * Math.log1p(b.all[i])) / log);
      g.fillRect(s.names + (i * s.plot) / n, y + tall - 2 - h, 1.6, h);
    }
    g.fillStyle = s.paint.bad;
    for (let i = 0; i < n; i++) {
      if (b.bad[i] === 0) continue;
      const h = Math.max(2, (high * Math.log1p(b.bad[i])) / log);
      g.fillRect(s.names + (i * s.plot) / n, y + tall - 2 - h, 1.6, h);
    }
    return;
  }
  for (let k = lo; k < hi; k++) {
    const i = lane.index[k], x0 = x(m.at[i]);
    const w = Math.max(3, Math.max(m.took[i], 0) * scale);
    g.fillStyle = m.outcome[i] === 1 ? s.paint.bad : m.outcome[i] === 0 ? (lane.kind === "deploys" ? s.paint.warn : s.paint.link) : s.paint.dim;
    g.fillRect(x0, y + bar, w, 6);
    if (i === s.selected) {
      g.strokeStyle = s.paint.text;
      g.lineWidth = 1.5;
      g.strokeRect(x0 - 2, y + bar - 2, w + 4, 10);
    }
    const room = (k + 1 < lane.index.length ? x(m.at[lane.index[k + 1]]) : x(to)) - x0 - 10;
    const text = room > 34 && s.texts.get(i);
    if (text) {
      g.fillStyle = s.paint.text;
      g.fillText(fit(g, plain(oneLine(text, 100)), room), x0, y + bar + 14);
    }
  }
}

function drawMarks(g, s, x) {
  for (const mark of s.marks) {
    const at = x(mark.at);
    if (at < s.names - 8 || at > s.width + 8) continue;
    const y = axis + mark.lane * tall + tall / 2;
    g.fillStyle = mark.bad ? s.paint.bad : s.paint.agent;
    g.beginPath();
    g.moveTo(at, y - 6), g.lineTo(at + 6, y), g.lineTo(at, y + 6), g.lineTo(at - 6, y);
    g.fill();
    if (mark !== s.selected) continue;
    g.strokeStyle = s.paint.text;
    g.lineWidth = 1.5;
    g.strokeRect(at - 9, y - 9, 18, 18);
  }
}

/** drawEdges draws each edge as a curve from the earlier command to the later. */
function drawEdges(g, s, x) {
  if (s.edges.length === 0) return;
  const row = new Map();
  s.lanes.forEach((lane, k) => {
    if (lane.kind !== "who") return;
    for (const e of s.edges) for (const i of [e.from, e.to]) if (typeof i === "number" && !row.has(i) && has(s.model, lane, i)) row.set(i, k);
  });
  g.lineWidth = 1.2;
  const place = (end) => (typeof end === "object" ? [x(end.at), axis + end.lane * tall + tall / 2] : [x(s.model.at[end]), axis + row.get(end) * tall + bar]);
  for (const e of s.edges) {
    const [x0, y0] = place(e.from), [x1, y1] = place(e.to);
    if (isNaN(y0) || isNaN(y1) || x1 < s.names || x0 > s.width) continue;
    g.strokeStyle = { fixes: s.paint.good, retry: s.paint.warn, causal: s.paint.bad, dependency: s.paint.agent }[e.kind] ?? s.paint.dim;
    g.beginPath();
    g.moveTo(x0, y0);
    const lift = y0 === y1 ? Math.min(bar, 3 + (x1 - x0) / 12) : 0;
    g.bezierCurveTo(x0 + (x1 - x0) / 3, y0 - lift, x1 - (x1 - x0) / 3, y1 - lift, x1, y1);
    g.stroke();
  }
}

function has(m, lane, i) {
  for (let k = first(m, lane, m.at[i]); k < lane.index.length && m.at[lane.index[k]] === m.at[i]; k++) if (lane.index[k] === i) return true;
  return false;
}

function fit(g, text, room) {
  if (g.measureText(text).width <= room) return text;
  const keep = Math.floor((text.length * room) / g.measureText(text).width) - 1;
  return keep > 1 ? text.slice(0, keep) + "…" : "";
}

/** zoomed is a range zoomed by a factor around a time, within what there is to see. */
export function zoomed([from, to], factor, around, [least, most]) {
  const whole = Math.max(most - least, shortest);
  const span = Math.min(Math.max((to - from) * factor, shortest), whole * 1.2);
  const start = around - ((around - from) * span) / (to - from);
  return moved([start, start + span], 0, [least, most]);
}

/** moved is a range moved by some milliseconds, not beyond what there is to see. */
export function moved([from, to], by, [least, most]) {
  const span = to - from, slack = span * 0.1;
  const start = Math.min(Math.max(from + by, least - slack), Math.max(most + slack - span, least - slack));
  return [start, start + span];
}

/** extent is from the first command to the end of the last. */
export function extent(m) {
  if (m.n === 0) return [Date.now() - 3600e3, Date.now()];
  const end = m.at[m.n - 1] + Math.max(m.took[m.n - 1], 0);
  return [m.at[0], Math.max(end, m.at[0] + shortest)];
}

/** gestures binds wheel, drag, pinch and keys to the canvas; it returns what undoes that. */
function gestures(canvas, latest, setHover) {
  const points = new Map();
  let travelled = 0;
  const timeAt = (px) => { const s = latest.current; return s.range[0] + ((px - s.names) / s.plot) * (s.range[1] - s.range[0]); };
  const set = (range) => latest.current.onRange(range);
  const around = (px, factor) => set(zoomed(latest.current.range, factor, timeAt(px), latest.current.limits));
  const under = (x, y) => {
    const s = latest.current, lane = Math.floor((y - axis) / tall);
    if (lane < 0 || lane >= s.lanes.length || x < s.names) return null;
    const t = timeAt(x), within = (8 / s.plot) * (s.range[1] - s.range[0]);
    const mark = s.marks.find((k) => k.lane === lane && Math.abs(k.at - t) <= within);
    if (mark) return { mark, lane, x, y };
    const i = s.lanes[lane].index ? nearest(s.model, s.lanes[lane], t, within) : -1;
    return i < 0 ? null : { i, lane, x, y };
  };
  const wheel = (e) => {
    e.preventDefault();
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) set(moved(latest.current.range, (e.deltaX / latest.current.plot) * (latest.current.range[1] - latest.current.range[0]), latest.current.limits));
    else around(e.offsetX, Math.exp(e.deltaY * 0.002));
  };
  const down = (e) => { points.set(e.pointerId, e); travelled = 0; canvas.setPointerCapture(e.pointerId); };
  const move = (e) => {
    const before = points.get(e.pointerId);
    if (!before) return setHover(under(e.offsetX, e.offsetY));
    const s = latest.current, dx = e.offsetX - before.offsetX;
    travelled += Math.abs(dx) + Math.abs(e.offsetY - before.offsetY);
    const [a, b] = [...points.values()];
    points.set(e.pointerId, e);
    if (b) {
      const was = Math.abs(a.offsetX - b.offsetX), [c, d] = [...points.values()];
      const is = Math.abs(c.offsetX - d.offsetX);
      if (was > 4 && is > 4) around((c.offsetX + d.offsetX) / 2, was / is);
    } else if (dx !== 0) set(moved(s.range, (-dx / s.plot) * (s.range[1] - s.range[0]), s.limits));
    return setHover(null);
  };
  const up = (e) => {
    points.delete(e.pointerId);
    if (travelled > 4 || e.type !== "pointerup") return;
    const hit = under(e.offsetX, e.offsetY);
    if (hit) latest.current.onSelect(hit);
  };
  const key = (e) => {
    const s = latest.current, span = s.range[1] - s.range[0], middle = s.names + s.plot / 2;
    const does = {
      "+": () => around(middle, 0.6), "=": () => around(middle, 0.6), "-": () => around(middle, 1 / 0.6),
      ArrowLeft: () => set(moved(s.range, -span / 6, s.limits)), ArrowRight: () => set(moved(s.range, span / 6, s.limits)),
      Home: () => set(moved(s.range, -Infinity, s.limits)), End: () => set(moved(s.range, 1e15, s.limits)), 0: () => set(s.limits),
    }[e.key];
    if (!does || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    e.stopPropagation();
    does();
  };
  const leave = () => setHover(null);
  const bound = { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up, pointerleave: leave, keydown: key };
  for (const [name, fn] of Object.entries(bound)) canvas.addEventListener(name, fn);
  canvas.addEventListener("wheel", wheel, { passive: false });
  return () => {
    for (const [name, fn] of Object.entries(bound)) canvas.removeEventListener(name, fn);
    canvas.removeEventListener("wheel", wheel);
  };
}
