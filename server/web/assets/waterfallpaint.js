// waterfallpaint.js draws the rows of a trace of waterfall.js that are seen, on a canvas as high as
// they are, however many spans there are.
import { shorten } from "./graph.js";
import { duration, overview, ticks } from "./waterfall.js";

export const rowHeight = 22, stripHeight = 36, axisHeight = 20;

const charWidth = 6.9; // about, of a character of a name

// nameWidth is about how many pixels the name of a span needs, with what stands before it.
export const nameWidth = (s) => 6 + s.depth * 11 + 30 + (s.service.length + s.operation.length + 3) * charWidth;

// names are the custom properties of style.css that the drawing uses.
const names = { back: "bg", line: "line", text: "text", dim: "dim", mark: "link", bad: "bad" };

export class WaterfallPaint {
  // box scrolls and holds the canvas; color returns the value of a custom property.
  constructor(box, canvas, color) {
    Object.assign(this, { box, canvas, color });
    this.pen = canvas.getContext("2d", { alpha: false });
    this.collapsed = new Set();
    this.recolor();
  }

  // recolor reads the colours again, after the theme has changed.
  recolor() {
    this.colours = Object.fromEntries(Object.entries(names).map(([n, property]) => [n, this.color(property)]));
    const [r, g, b] = (this.colours.back.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
    this.light = r + g + b > 380 ? "46%" : "62%"; // of the hues of services
    this.font = getComputedStyle(this.canvas).fontFamily;
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
    const room = Math.floor((side - indent - 24) / charWidth);
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
}
