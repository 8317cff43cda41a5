// waterfallcanvas.js draws a trace of waterfall.js on a canvas as high as what is seen of it, however
// many spans there are, and lets people scroll, zoom in time, collapse and choose. It knows no
// framework. The canvas stands in a box that scrolls, before a spacer of the height of all rows.
import { shorten } from "./graph.js";
import { duration, overview, rows, ticks } from "./waterfall.js";

export const rowHeight = 22, stripHeight = 36, axisHeight = 20;
const names = { back: "bg", line: "line", text: "text", dim: "dim", mark: "link", bad: "bad" };

export class WaterfallCanvas {
  // box scrolls and holds canvas (position: sticky) and spacer. on has color(name), which returns the
  // value of a custom property, and the callbacks select(index), toggle(collapsed) and say(text).
  constructor(box, canvas, spacer, on = {}) {
    Object.assign(this, { box, canvas, spacer, on });
    this.pen = canvas.getContext("2d", { alpha: false });
    this.collapsed = new Set();
    this.ended = new AbortController();
    const { signal } = this.ended;
    box.addEventListener("scroll", () => this.draw(), { signal, passive: true });
    canvas.addEventListener("pointerdown", (e) => this.down(e), { signal });
    canvas.addEventListener("pointermove", (e) => this.move(e), { signal });
    canvas.addEventListener("pointerup", (e) => this.up(e), { signal });
    canvas.addEventListener("pointercancel", () => { this.drag = undefined; }, { signal });
    canvas.addEventListener("dblclick", () => this.zoomTo(0, this.trace.end), { signal });
    canvas.addEventListener("wheel", (e) => this.wheel(e), { signal, passive: false });
    box.addEventListener("keydown", (e) => this.key(e), { signal });
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(box);
    this.recolor();
  }

  // recolor reads the colours again, after the theme has changed.
  recolor() {
    this.colours = Object.fromEntries(Object.entries(names).map(([n, property]) => [n, this.on.color(property)]));
    const [r, g, b] = (this.colours.back.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
    this.light = r + g + b > 380 ? "46%" : "62%"; // of the hues of services
    this.font = getComputedStyle(this.canvas).fontFamily;
    this.draw();
  }

  destroy() {
    this.ended.abort();
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
  }

  // show draws an arranged trace. match(span) lights spans; undefined lights all.
  show(trace, { collapsed = new Set(), selected, match } = {}) {
    const same = this.trace === trace;
    Object.assign(this, { trace, collapsed, selected, match });
    if (!same) {
      this.from = 0;
      this.to = trace.end;
      this.strip = undefined;
      const n = trace.services.length;
      this.hues = new Map(trace.services.map((s, i) => [s, Math.round(205 + i * (n > 8 ? 360 / n : 47)) % 360]));
    }
    this.list();
  }

  list() {
    this.rows = rows(this.trace, this.collapsed);
    this.spacer.style.height = this.rows.length * rowHeight + "px";
    this.resize();
  }

  resize() {
    if (!this.trace) return;
    this.ratio = Math.min(2, devicePixelRatio || 1);
    this.width = this.box.clientWidth;
    this.height = Math.min(this.box.clientHeight, stripHeight + axisHeight + this.rows.length * rowHeight);
    this.canvas.width = Math.max(1, Math.round(this.width * this.ratio));
    this.canvas.height = Math.max(1, Math.round(this.height * this.ratio));
    this.canvas.style.width = this.width + "px";
    this.canvas.style.height = this.height + "px";
    this.spacer.style.marginTop = -this.height + stripHeight + axisHeight + "px";
    this.side = Math.round(Math.min(380, this.width * (this.width < 640 ? 0.42 : 0.34)));
    this.strip = undefined;
    this.draw();
  }

  x(t) { return this.side + (t - this.from) / (this.to - this.from) * (this.width - this.side - 12); }

  time(x) { return this.from + (x - this.side) / (this.width - this.side - 12) * (this.to - this.from); }

  draw() {
    if (this.frame || !this.trace) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  paint() {
    const { pen, ratio, width, height, side, colours: c } = this;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = c.back;
    pen.fillRect(0, 0, width, height);
    pen.textBaseline = "middle";
    pen.font = "12px " + this.font;
    const top = stripHeight + axisHeight, scrolled = this.box.scrollTop;
    const times = ticks(this.from, this.to, Math.max(2, (width - side) / 110));
    pen.strokeStyle = c.line;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.6;
    pen.beginPath();
    for (const t of times) {
      const x = Math.round(this.x(t)) + 0.5;
      pen.moveTo(x, top);
      pen.lineTo(x, height);
    }
    pen.stroke();
    pen.globalAlpha = 1;
    const first = Math.floor(scrolled / rowHeight), last = Math.min(this.rows.length, Math.ceil((scrolled + height) / rowHeight));
    for (let r = first; r < last; r++) this.row(this.rows[r], top + r * rowHeight - scrolled, c);
    pen.globalAlpha = 1;
    pen.fillStyle = c.back;
    pen.fillRect(0, 0, width, top);
    this.overview(c);
    pen.font = "11px " + this.font;
    pen.textAlign = "left";
    pen.fillStyle = c.dim;
    for (const t of times) if (this.x(t) < width - 40) pen.fillText(duration(t), this.x(t) + 3, stripHeight + axisHeight / 2);
    pen.fillText(`${this.rows.length.toLocaleString()} rows`, 8, stripHeight + axisHeight / 2);
    pen.strokeStyle = c.line;
    pen.beginPath();
    pen.moveTo(0, top - 0.5);
    pen.lineTo(width, top - 0.5);
    pen.moveTo(side - 0.5, stripHeight);
    pen.lineTo(side - 0.5, height);
    pen.stroke();
  }

  // row draws one span: its name by depth, its bar, and on it what it adds to the critical path.
  row(i, y, c) {
    const { pen, trace, side, width } = this, s = trace.spans[i], mid = y + rowHeight / 2;
    const lit = !this.match || this.match(s);
    pen.globalAlpha = lit ? 1 : 0.35;
    if (i === this.selected) {
      pen.globalAlpha = 0.14;
      pen.fillStyle = c.mark;
      pen.fillRect(0, y, width, rowHeight);
      pen.globalAlpha = 1;
    }
    const hue = `hsl(${this.hues.get(s.service)} 55% ${this.light})`;
    const indent = 6 + Math.min(s.depth * 11, side * 0.45), folds = trace.sizes[i] > 1, shut = this.collapsed.has(i);
    if (folds) {
      pen.fillStyle = c.dim;
      pen.beginPath();
      if (shut) { pen.moveTo(indent + 2, mid - 4); pen.lineTo(indent + 7, mid); pen.lineTo(indent + 2, mid + 4); }
      else { pen.moveTo(indent, mid - 2.5); pen.lineTo(indent + 8, mid - 2.5); pen.lineTo(indent + 4, mid + 3); }
      pen.fill();
    }
    pen.fillStyle = hue;
    pen.fillRect(indent + 12, y + 4, 3, rowHeight - 8);
    const below = shut ? trace.below[i] : undefined;
    const failed = s.failed || below?.failed > 0;
    const room = Math.floor((side - indent - 26) / 6.4);
    const name = s.service + " " + s.operation, more = below ? ` +${below.spans - 1}` : "";
    pen.textAlign = "left";
    pen.fillStyle = failed ? c.bad : c.text;
    if (room > 3) pen.fillText((s.failed ? "✕ " : "") + shorten(name, Math.max(4, room - more.length - (s.failed ? 2 : 0))) + more, indent + 19, mid + 0.5);
    const end = s.offset_ns + s.duration_ns, a = this.x(s.offset_ns), b = Math.max(a + 1.5, this.x(end));
    if (b < side || a > width) return;
    const left = Math.max(side, a), right = Math.min(width, b);
    pen.save();
    pen.beginPath();
    pen.rect(side, y, width - side, rowHeight);
    pen.clip();
    pen.fillStyle = hue;
    pen.fillRect(left, y + 6, right - left, rowHeight - 12);
    if (failed) {
      pen.fillStyle = c.bad;
      pen.fillRect(left, y + rowHeight - 6, right - left, 2);
    }
    const pieces = trace.critical.get(i);
    if (pieces) {
      pen.fillStyle = c.text;
      for (const [p, q] of pieces) pen.fillRect(this.x(p), y + 4, Math.max(1, this.x(q) - this.x(p)), 2);
    }
    pen.fillStyle = c.dim;
    const say = duration(s.duration_ns), long = say.length * 6.3;
    if (right + 6 + long < width) pen.fillText(say, right + 6, mid + 0.5);
    else if (left - 6 - long > side) pen.fillText(say, left - 6 - long, mid + 0.5);
    else {
      pen.fillStyle = c.back;
      pen.fillText(say, Math.max(left + 4, right - long - 6), mid + 0.5);
    }
    pen.restore();
  }

  // overview draws the strip of the whole trace; what is outside the range of the rows is dim.
  overview(c) {
    const { pen, width, trace } = this, w = Math.max(1, Math.floor(width - 24));
    this.strip ??= overview(trace, Math.min(600, w));
    const each = w / this.strip.length, most = Math.max(...this.strip.map((s) => s.spans), 1), high = stripHeight - 12;
    for (const [i, s] of this.strip.entries()) {
      if (!s.spans) continue;
      const h = Math.max(1, Math.sqrt(s.spans / most) * high);
      pen.fillStyle = s.failed ? c.bad : c.dim;
      pen.globalAlpha = s.failed ? 0.8 : 0.45;
      pen.fillRect(12 + i * each, 4 + high - h, Math.max(1, each), h);
    }
    pen.globalAlpha = 1;
    const a = 12 + this.from / trace.end * w, b = 12 + this.to / trace.end * w;
    pen.fillStyle = c.back;
    pen.globalAlpha = 0.65;
    pen.fillRect(12, 2, a - 12, high + 4);
    pen.fillRect(b, 2, 12 + w - b, high + 4);
    pen.globalAlpha = 1;
    pen.strokeStyle = this.drag ? c.mark : c.line;
    pen.strokeRect(a + 0.5, 2.5, Math.max(1, b - a - 1), high + 3);
  }

  zoomTo(from, to) {
    const least = Math.max(1, this.trace.end * 1e-6), span = Math.min(this.trace.end, Math.max(least, to - from));
    this.from = Math.max(0, Math.min(from, this.trace.end - span));
    this.to = this.from + span;
    this.draw();
  }

  zoom(by, around = (this.from + this.to) / 2) {
    this.zoomTo(around - (around - this.from) / by, around + (this.to - around) / by);
  }

  place(e) {
    const r = this.canvas.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  }

  down(e) {
    const [x, y] = this.place(e);
    this.canvas.setPointerCapture(e.pointerId);
    this.drag = { x, y, from: this.from, to: this.to, strip: y < stripHeight, moved: false };
  }

  move(e) {
    const d = this.drag;
    if (!d) return;
    const [x, y] = this.place(e);
    d.moved ||= Math.abs(x - d.x) + Math.abs(y - d.y) > 4;
    if (!d.moved) return;
    if (d.strip) {
      const t = (px) => (px - 12) / (this.width - 24) * this.trace.end;
      this.zoomTo(t(Math.min(x, d.x)), t(Math.max(x, d.x)));
    } else if (d.x > this.side) {
      const by = (d.x - x) / (this.width - this.side) * (d.to - d.from);
      this.zoomTo(d.from + by, d.to + by);
      if (e.pointerType !== "mouse") return;
      this.box.scrollTop += d.y - y;
      d.y = y;
    }
  }

  up(e) {
    const d = this.drag, [x, y] = this.place(e);
    this.drag = undefined;
    if (!d || d.moved || d.strip || y < stripHeight + axisHeight) return this.draw();
    const i = this.rows[Math.floor((y - stripHeight - axisHeight + this.box.scrollTop) / rowHeight)];
    if (i === undefined) return;
    const indent = 6 + Math.min(this.trace.spans[i].depth * 11, this.side * 0.45);
    if (x < indent + 14 && this.trace.sizes[i] > 1) this.toggle(i);
    else this.choose(i);
  }

  wheel(e) {
    if (!e.ctrlKey && !e.metaKey && !e.shiftKey) return; // the box scrolls
    e.preventDefault();
    const [x] = this.place(e);
    if (e.shiftKey) {
      const by = (e.deltaY || e.deltaX) / 600 * (this.to - this.from);
      this.zoomTo(this.from + by, this.to + by);
    } else this.zoom(Math.exp(-e.deltaY * 0.004), this.time(Math.max(this.side, x)));
  }

  toggle(i, shut = !this.collapsed.has(i)) {
    const next = new Set(this.collapsed);
    if (shut) next.add(i);
    else next.delete(i);
    this.collapsed = next;
    this.list();
    this.on.toggle?.(next);
  }

  // foldBelow collapses every span at a depth that has children; Infinity unfolds all.
  foldBelow(depth) {
    this.collapsed = new Set();
    this.trace.spans.forEach((s, i) => { if (s.depth === depth && this.trace.sizes[i] > 1) this.collapsed.add(i); });
    this.box.scrollTop = 0;
    this.list();
    this.on.toggle?.(this.collapsed);
  }

  // reveal selects a span that may be within a collapsed one, and scrolls to it.
  reveal(i) {
    for (let p = this.trace.parents[i] ?? -1; p >= 0; p = this.trace.parents[p]) this.collapsed.delete(p);
    this.selected = i;
    this.list();
    this.scrollTo(i);
  }

  scrollTo(i) {
    const r = this.rows.indexOf(i), view = this.height - stripHeight - axisHeight;
    if (r >= 0) {
      if (r * rowHeight < this.box.scrollTop) this.box.scrollTop = r * rowHeight;
      else if ((r + 1) * rowHeight > this.box.scrollTop + view) this.box.scrollTop = (r + 1) * rowHeight - view;
    }
    this.draw();
  }

  choose(i) {
    this.selected = i;
    this.scrollTo(i);
    this.on.select?.(i);
    const s = this.trace.spans[i];
    this.on.say?.(`${s.service} ${s.operation}, ${duration(s.duration_ns)}${s.failed ? ", failed" : ""}, level ${s.depth + 1}`);
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.trace) return;
    const i = this.selected, r = this.rows.indexOf(i), { spans, sizes, parents } = this.trace;
    const page = Math.max(1, Math.floor((this.height - stripHeight - axisHeight) / rowHeight) - 1);
    const to = (n) => this.choose(this.rows[Math.max(0, Math.min(this.rows.length - 1, n))]);
    switch (e.key) {
      case "ArrowDown": case "j": to(r + 1); break;
      case "ArrowUp": case "k": to(r < 0 ? 0 : r - 1); break;
      case "PageDown": to(r + page); break;
      case "PageUp": to(r - page); break;
      case "Home": to(0); break;
      case "End": to(this.rows.length - 1); break;
      case "ArrowRight": if (this.collapsed.has(i)) this.toggle(i, false); else if (sizes[i] > 1) this.choose(i + 1); break;
      case "ArrowLeft": if (sizes[i] > 1 && !this.collapsed.has(i)) this.toggle(i, true); else if (parents[i] >= 0) this.choose(parents[i]); break;
      case "+": case "=": this.zoom(1.5, i >= 0 ? spans[i].offset_ns + spans[i].duration_ns / 2 : undefined); break;
      case "-": this.zoom(1 / 1.5); break;
      case "0": this.zoomTo(0, this.trace.end); break;
      case "z": if (i >= 0) this.zoomTo(spans[i].offset_ns - spans[i].duration_ns * 0.05, spans[i].offset_ns + spans[i].duration_ns * 1.05); break;
      case "n": case "N": { // the next or last failed span
        const way = e.key === "n" ? 1 : -1;
        for (let at = r + way; at >= 0 && at < this.rows.length; at += way) if (spans[this.rows[at]].failed) { to(at); break; }
        break;
      }
      default: return;
    }
    e.preventDefault();
    e.stopPropagation();
  }
}
