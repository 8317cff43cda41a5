// waterfallcanvas.js lets people scroll, zoom in time, collapse and choose in a trace that
// waterfallpaint.js draws. It knows no framework. The canvas stands in a box that scrolls, before a
// spacer of the height of all rows.
import { duration, rows } from "./waterfall.js";
import { WaterfallPaint, axisHeight, nameWidth, rowHeight, stripHeight } from "./waterfallpaint.js";

export class WaterfallCanvas extends WaterfallPaint {
  // box scrolls and holds canvas (position: sticky) and spacer. on has color(name), which returns the
  // value of a custom property, and the callbacks select(index), toggle(collapsed) and say(text).
  constructor(box, canvas, spacer, on = {}) {
    super(box, canvas, on.color);
    this.spacer = spacer;
    this.on = on;
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
      this.longest = trace.spans.reduce((n, s) => Math.max(n, nameWidth(s)), 0);
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
    // The names have the room that they need, from a third to half of the width.
    const share = (part) => Math.round(this.width * part);
    this.side = this.width < 640 ? share(0.42) : Math.max(Math.min(380, share(0.34)), Math.min(this.longest, share(0.5)));
    this.strip = undefined;
    this.draw();
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
