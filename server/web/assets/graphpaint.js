// graphpaint.js draws a scene of graph.js on a canvas. While something moves it draws as many links as
// fit into a frame, the heaviest first; when it rests, all of them.
import { shorten, size } from "./graph.js";

const pace = 24;       // milliseconds between frames that move, above which links are left out
const allLinks = 6000; // that are drawn at rest
const rest = 140;      // milliseconds without movement after which everything is drawn
const text = 7.5;      // pixels below which a label is not drawn

// names are the custom properties of style.css that the drawing uses.
const names = { back: "bg", card: "panel", line: "line", text: "text", dim: "dim", mark: "link", bad: "bad", good: "good", old: "dim" };

export class GraphPaint {
  // color returns the value of a custom property.
  constructor(canvas, color) {
    this.canvas = canvas;
    this.color = color;
    this.pen = canvas.getContext("2d", { alpha: false });
    this.view = { x: 0, y: 0, k: 1 }; // where the scene's origin is on the canvas, and its scale
    this.scene = { items: [], links: [], at: new Map(), width: 0, height: 0 };
    this.most = 500; // the number of links that fit into a frame that moves, as measured
    this.recolor();
  }

  // recolor reads the colours again, after the theme has changed.
  recolor() {
    this.colours = Object.fromEntries(Object.entries(names).map(([n, property]) => [n, this.color(property)]));
    this.font = getComputedStyle(this.canvas).fontFamily;
    this.draw();
  }

  // stop ends drawing.
  stop() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.resting);
  }

  item(id) {
    const i = this.scene.at.get(id) ?? this.scene.at.get("group:" + id);
    return i === undefined ? undefined : this.scene.items[i];
  }

  // draw asks for a frame; moving frames may leave out links.
  draw(moving = false) {
    if (moving) {
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.draw(), rest);
    }
    this.full = !moving;
    if (this.frame) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = 0;
      if (!this.full) this.measure(now);
      this.paint();
      this.last = this.full ? undefined : now;
    });
  }

  // measure learns from the time since the last frame that moved. Most of the work of a canvas is done
  // after the calls that draw, so that only the time between frames shows it.
  measure(now) {
    const took = now - this.last;
    if (!(took < 1000)) return; // the first of a movement
    if (took > pace) this.most = Math.max(40, this.most * Math.max(0.5, pace / took));
    else if (this.drawn >= this.most - 1) this.most *= 1.06;
  }

  paint() {
    const { pen, colours: c, view: { x, y, k }, ratio } = this;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = c.back;
    pen.fillRect(0, 0, this.width, this.height);
    pen.setTransform(ratio * k, 0, 0, ratio * k, ratio * x, ratio * y);
    this.left = -x / k;
    this.top = -y / k;
    this.right = this.left + this.width / k;
    this.bottom = this.top + this.height / k;
    const near = this.selected ?? this.hovered;
    for (const i of this.scene.items) if (i.kind === "open" && this.sees(i)) this.frameOf(i, c);
    this.drawn = this.links(c, near, k);
    const lit = near === undefined ? undefined : this.lit(near);
    this.items(c, k, near, lit);
  }

  sees(i) {
    return i.x < this.right && i.x + i.w > this.left && i.y < this.bottom && i.y + i.h > this.top;
  }

  // lit returns the ids of what is linked with an item, and of its members.
  lit(id) {
    const ids = new Set([id]), own = this.item(id), members = new Set([id]);
    if (own?.kind === "open") for (const n of own.nodes) { ids.add(n.id); members.add(n.id); }
    for (const l of this.scene.links) {
      if (members.has(l.from)) ids.add(l.to);
      if (members.has(l.to)) ids.add(l.from);
    }
    this.members = members;
    return ids;
  }

  // links draws the links that cross what is seen, and returns their number.
  links(c, near, k) {
    const { pen } = this, most = this.full ? allLinks : this.most;
    if (near !== undefined) this.lit(near);
    const batches = new Map(), strong = [];
    let n = 0;
    for (const l of this.ordered ?? []) {
      if (l.right < this.left || l.left > this.right || l.bottom < this.top || l.top > this.bottom) continue;
      if (near !== undefined && (this.members.has(l.from) || this.members.has(l.to))) {
        strong.push(l);
        continue;
      }
      if (n >= most) continue;
      n++;
      const key = (l.state || "") + "/" + Math.min(4, 1 + Math.floor(Math.log2(l.count)));
      if (!batches.has(key)) batches.set(key, []);
      batches.get(key).push(l);
    }
    const straight = n > 1500;
    const trace = (l) => {
      const p = l.path;
      pen.moveTo(p[0], p[1]);
      if (straight) pen.lineTo(p.at(-2), p.at(-1));
      else for (let i = 2; i < p.length; i += 6) pen.bezierCurveTo(p[i], p[i + 1], p[i + 2], p[i + 3], p[i + 4], p[i + 5]);
    };
    pen.lineCap = "butt";
    for (const [key, all] of batches) {
      const [state, width] = key.split("/");
      pen.globalAlpha = (near !== undefined ? 0.35 : 1) * (n > 2000 ? 0.25 : n > 400 ? 0.5 : 0.85);
      pen.strokeStyle = state ? c[state] : c.dim;
      pen.lineWidth = Math.max(Number(width) * 0.8, 0.8 / k);
      // Skia strokes several paths of some links faster than one of thousands that cross.
      for (let i = 0; i < all.length; i += 64) {
        pen.beginPath();
        for (const l of all.slice(i, i + 64)) trace(l);
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = pen.fillStyle = c.mark;
    pen.lineWidth = Math.max(1.6, 1.4 / k);
    pen.beginPath();
    for (const l of strong) trace(l);
    pen.stroke();
    if (k > 0.35 && n + strong.length < 500) {
      for (const all of batches.values()) {
        pen.fillStyle = all[0].state ? c[all[0].state] : c.dim;
        for (const l of all) this.head(l);
      }
      pen.fillStyle = c.mark;
      for (const l of strong) this.head(l);
    }
    if (k > 0.6 && n + strong.length < 160) this.counts(c, [...batches.values()].flat().concat(strong));
    return n;
  }

  // head draws the arrow's head of a link.
  head(l) {
    const [before, , x, y] = l.path.slice(-4), d = before < x ? -1 : 1;
    const { pen } = this;
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x + d * 6, y - 3.2);
    pen.lineTo(x + d * 6, y + 3.2);
    pen.fill();
  }

  // counts writes beside links what they say, or how many edges they stand for, where nothing else is.
  counts(c, links) {
    const { pen } = this, taken = this.scene.items.filter((i) => i.kind !== "open" && this.sees(i)).map((i) => [i.x - 2, i.y - 2, i.x + i.w + 2, i.y + i.h + 2]);
    pen.font = "10px " + this.font;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const l of links) {
      const say = l.label ?? (l.count > 1 ? String(l.count) : "");
      if (!say) continue;
      const w = say.length * 5.6 + 6, curves = (l.path.length - 2) / 6;
      for (const along of [0.5, 0.38, 0.62, 0.28, 0.72, 0.18]) {
        const n = Math.floor(along * curves), p = l.path.slice(6 * n, 6 * n + 8), t = along * curves - n;
        const u = 1 - t, mix = (i) => u * u * u * p[i] + 3 * u * u * t * p[i + 2] + 3 * u * t * t * p[i + 4] + t * t * t * p[i + 6];
        const x = mix(0), y = mix(1), box = [x - w / 2, y - 6, x + w / 2, y + 6];
        if (taken.some((o) => o[0] < box[2] && o[2] > box[0] && o[1] < box[3] && o[3] > box[1])) continue;
        taken.push(box);
        pen.fillStyle = c.back;
        pen.fillRect(box[0], box[1], w, 12);
        pen.fillStyle = l.state ? c[l.state] : c.dim;
        pen.fillText(say, x, y);
        break;
      }
    }
  }

  // frameOf draws an open group: its frame and its name.
  frameOf(i, c) {
    const { pen } = this;
    pen.fillStyle = c.card;
    pen.strokeStyle = i.id === this.selected ? c.mark : c.line;
    pen.lineWidth = i.id === this.selected ? 2 : 1;
    pen.beginPath();
    pen.roundRect(i.x, i.y, i.w, i.h, 6);
    pen.fill();
    pen.stroke();
    if (this.view.k * 12 < text && i.w * this.view.k < 60) return;
    // Far away, the name stays readable and is cut to the frame.
    const high = Math.max(12, Math.min(i.h * 0.5, text * 1.3 / this.view.k));
    pen.font = `600 ${high}px ${this.font}`;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillStyle = c.dim;
    const fits = Math.floor((i.w - 2 * size.pad) / (high * 0.58));
    if (fits > 3) pen.fillText(shorten(i.label, fits), i.x + size.pad, i.y + Math.max(size.head, high) / 2);
  }

  items(c, k, near, lit) {
    const { pen } = this, labels = k * 12 >= text;
    pen.textBaseline = "middle";
    pen.font = "12px " + this.font;
    for (const i of this.scene.items) {
      if (i.kind === "open" || !this.sees(i)) continue;
      const faded = lit && !lit.has(i.id);
      pen.globalAlpha = faded ? 0.4 : 1;
      const edge = i.id === near ? c.mark : i.state ? c[i.state] : c.line;
      if (!labels && i.kind === "member") { // far away, a member is a speck
        pen.fillStyle = i.id === near || i.state ? edge : c.dim;
        pen.fillRect(i.x, i.y + 4, i.w * 0.9, i.h - 8);
        continue;
      }
      pen.fillStyle = i.kind === "member" ? c.back : c.card;
      pen.strokeStyle = edge;
      pen.lineWidth = i.id === near ? 2 : i.state ? 1.4 : 1;
      pen.beginPath();
      if (labels) pen.roundRect(i.x, i.y, i.w, i.h, i.kind === "folded" ? 6 : 3);
      else pen.rect(i.x, i.y, i.w, i.h);
      pen.fill();
      pen.stroke();
      if (i.state) {
        pen.fillStyle = c[i.state];
        pen.fillRect(i.x, i.y + 3, Math.max(3, 2 / k), i.h - 6);
      }
      this.label(i, c, k);
    }
    pen.globalAlpha = 1;
  }

  // label writes the name of an item; of a folded one, larger when it is far away, with its count.
  label(i, c, k) {
    const { pen } = this;
    const high = i.kind === "member" ? 12 : Math.max(12, Math.min(i.h * 0.8, text / k));
    if (high * k < text) return;
    const fits = Math.floor((i.w - 2 * size.pad + 4 - (i.kind === "folded" && high === 12 ? 32 : 0)) / (high * 0.54));
    if (fits < Math.min(3, i.label.length)) return;
    pen.font = `${high}px ${this.font}`;
    pen.textAlign = "left";
    pen.fillStyle = i.state && i.state !== "mark" ? c[i.state] : c.text;
    pen.fillText(shorten(i.label, fits), i.x + size.pad, i.y + i.h / 2 + 0.5);
    if (i.kind !== "folded" || high > 12) return;
    pen.textAlign = "right";
    pen.fillStyle = c.dim;
    pen.font = "11px " + this.font;
    pen.fillText(String(i.count), i.x + i.w - size.pad, i.y + i.h / 2 + 0.5);
  }
}
