// graphcanvas.js lets people pan, zoom, choose and walk in a graph that graphpaint.js draws. It knows
// no framework.
import { step } from "./graph.js";
import { GraphPaint } from "./graphpaint.js";

const readable = 0.5; // of its size, at which the names of a graph can be read

export class GraphCanvas extends GraphPaint {
  // on has color(name), which returns the value of a custom property, and the callbacks
  // select(item or undefined), open(item), moved(view) and say(text).
  constructor(canvas, on = {}) {
    super(canvas, on.color);
    this.on = on;
    this.ended = new AbortController();
    const listen = (type, f, o = {}) => canvas.addEventListener(type, f, { ...o, signal: this.ended.signal });
    this.fingers = new Map();
    listen("pointerdown", (e) => this.down(e));
    listen("pointermove", (e) => this.move(e));
    listen("pointerup", (e) => this.up(e));
    listen("pointercancel", (e) => this.fingers.delete(e.pointerId));
    listen("pointerleave", () => this.hover(undefined));
    listen("wheel", (e) => this.wheel(e), { passive: false });
    listen("keydown", (e) => this.key(e));
    listen("dblclick", (e) => this.activate(this.hit(e)));
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(canvas);
    this.resize();
  }

  destroy() {
    this.ended.abort();
    this.sizes.disconnect();
    this.stop();
  }

  // show draws another scene: with an item (the id of what was opened) it stays where it was on the
  // screen, otherwise the whole scene is fitted in.
  show(scene, anchor) {
    const was = anchor !== undefined && this.item(anchor), k = this.view.k;
    const screen = was && [was.x * k + this.view.x, was.y * k + this.view.y];
    this.scene = scene;
    this.ordered = [...scene.links].sort((a, b) => b.count - a.count);
    this.hovered = undefined;
    if (this.selected !== undefined && !scene.at.has(this.selected)) this.selected = undefined;
    const now = was && this.item(anchor);
    if (now) this.view = { k, x: screen[0] - now.x * k, y: screen[1] - now.y * k };
    if (now?.kind === "open" && k < 0.7) { // so far away, what was opened could not be read
      const near = Math.max(k, Math.min(1, this.width * 0.9 / now.w, this.height * 0.9 / now.h));
      this.view = { k: near, x: this.width / 2 - (now.x + now.w / 2) * near, y: this.height / 2 - (now.y + now.h / 2) * near };
    }
    if (!now) this.begin();
    this.draw();
  }

  // begin shows the whole scene if its names can be read then, otherwise the part around what is marked.
  begin() {
    this.fit();
    if (this.view.k >= readable) return;
    const i = this.scene.items.find((x) => x.state === "mark") ?? this.scene.items[0], k = readable;
    if (i) this.look({ k, x: 24 - i.x * k, y: (this.height || 1) / 2 - (i.y + i.h / 2) * k });
  }

  fit() {
    const { width, height } = this.scene, w = this.width || 1, h = this.height || 1;
    const k = Math.min(1.25, (w - 32) / Math.max(1, width), (h - 32) / Math.max(1, height));
    this.look({ k, x: (w - width * k) / 2, y: (h - height * k) / 2 });
  }

  // look moves the view; the others that follow it are told.
  look(view, silent) {
    this.view = view;
    if (!silent) this.on.moved?.(view);
    this.draw(true);
  }

  select(id, center) {
    const item = id === undefined ? undefined : this.item(id);
    this.selected = item?.id;
    if (item && center) {
      const { k } = this.view, cx = (item.x + item.w / 2) * k + this.view.x, cy = (item.y + item.h / 2) * k + this.view.y;
      if (cx < 40 || cy < 20 || cx > this.width - 40 || cy > this.height - 20) {
        this.look({ k, x: this.view.x + this.width / 2 - cx, y: this.view.y + this.height / 2 - cy });
      }
    }
    this.draw();
    return item;
  }

  choose(item) {
    this.select(item?.id, true);
    this.on.select?.(item);
    if (item) this.on.say?.(item.kind === "folded" ? `${item.label}, ${item.count} symbols, folded` : item.kind === "open" ? `${item.label}, ${item.count} symbols, open` : item.title || item.label);
  }

  activate(item) {
    if (item) this.on.open?.(item);
  }

  resize() {
    const box = this.canvas.getBoundingClientRect(), ratio = Math.min(2, devicePixelRatio || 1);
    const first = !this.width;
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.max(1, Math.round(box.width * ratio));
    this.canvas.height = Math.max(1, Math.round(box.height * ratio));
    this.ratio = ratio;
    if (first && this.width) this.begin();
    this.draw();
  }

  place(e) {
    const box = this.canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }

  // hit returns the innermost item at an event.
  hit(e) {
    const [px, py] = this.place(e), x = (px - this.view.x) / this.view.k, y = (py - this.view.y) / this.view.k;
    const slack = Math.max(0, 4 / this.view.k - 4);
    let found;
    for (const i of this.scene.items) {
      if (x >= i.x - slack && x <= i.x + i.w + slack && y >= i.y - slack && y <= i.y + i.h + slack && (!found || i.kind === "member")) found = i;
    }
    return found;
  }

  down(e) {
    this.canvas.setPointerCapture(e.pointerId);
    this.fingers.set(e.pointerId, this.place(e));
    this.dragged = 0;
  }

  move(e) {
    const was = this.fingers.get(e.pointerId);
    if (!was) return this.hover(this.hit(e));
    const now = this.place(e);
    const others = [...this.fingers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
    this.fingers.set(e.pointerId, now);
    this.dragged += Math.abs(now[0] - was[0]) + Math.abs(now[1] - was[1]);
    if (others.length) {
      const far = (p) => Math.hypot(p[0] - others[0][0], p[1] - others[0][1]) || 1;
      return this.zoom(far(now) / far(was), (now[0] + others[0][0]) / 2, (now[1] + others[0][1]) / 2);
    }
    this.look({ ...this.view, x: this.view.x + now[0] - was[0], y: this.view.y + now[1] - was[1] });
  }

  up(e) {
    this.fingers.delete(e.pointerId);
    if (this.dragged < 5) this.choose(this.hit(e));
  }

  hover(item) {
    if (this.hovered === item?.id) return;
    this.hovered = item?.id;
    this.canvas.style.cursor = item ? "pointer" : "";
    this.canvas.title = item ? item.title || item.label : "";
    this.draw(true);
  }

  wheel(e) {
    if (!(e.ctrlKey || e.metaKey || document.activeElement === this.canvas)) return; // the page scrolls
    e.preventDefault();
    const [x, y] = this.place(e);
    this.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0016) * (e.ctrlKey ? 4 : 1)), x, y);
  }

  zoom(by, x = this.width / 2, y = this.height / 2) {
    const k = Math.min(4, Math.max(0.02, this.view.k * by)), f = k / this.view.k;
    this.look({ k, x: x - (x - this.view.x) * f, y: y - (y - this.view.y) * f });
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const arrow = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" }[e.key];
    const at = this.selected === undefined ? undefined : this.item(this.selected);
    if (arrow) {
      if (e.shiftKey) {
        const d = { left: [60, 0], right: [-60, 0], up: [0, 60], down: [0, -60] }[arrow];
        this.look({ ...this.view, x: this.view.x + d[0], y: this.view.y + d[1] });
      } else this.choose(at ? step(this.scene, at, arrow) ?? at : this.scene.items[0]);
    } else if (e.key === "Enter" || e.key === " ") this.activate(at);
    else if (e.key === "+" || e.key === "=") this.zoom(1.3);
    else if (e.key === "-") this.zoom(1 / 1.3);
    else if (e.key === "0") this.fit();
    else if (e.key === "Escape" && at) this.choose(undefined);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
}
