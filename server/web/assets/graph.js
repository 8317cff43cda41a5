// graph.js folds and lays out graphs of up to some thousand nodes. It is pure: data in, places out.
// graphcanvas.js draws the result.
//
// A graph is {nodes, edges}. A node is {id, label, group, rank, state, title}: nodes of one group
// (a package, say) fold into one box; rank, if given, is the layer (a distance). An edge is
// {from, to, label, state}. States are names of colours: "", "bad", "good", "old", "mark".

// Sizes in units of the drawing, at scale 1 pixels of CSS.
export const size = { row: 22, char: 6.7, pad: 9, most: 240, gapX: 72, gapY: 14, head: 24 };

// shorten cuts the middle out of a text that is longer than n characters.
export function shorten(text, n) {
  const all = Array.from(text);
  if (all.length <= n) return text;
  const tail = Math.floor((n - 1) * 0.6);
  return all.slice(0, n - 1 - tail).join("") + "…" + all.slice(all.length - tail).join("");
}

const widthOf = (text, extra = 0) => Math.min(size.most, Math.max(48, text.length * size.char + 2 * size.pad + extra));

// worst returns the state that counts most among several.
const order = ["bad", "good", "mark", "old"];
const worst = (a, b) => {
  const x = order.indexOf(a), y = order.indexOf(b);
  return x < 0 ? b : y < 0 ? a : order[Math.min(x, y)];
};

// fold returns the boxes and links to show, given the ids of the groups that are open. A group of
// one node is shown as that node. A link stands for all edges between two things shown.
export function fold(graph, open = new Set()) {
  const groups = new Map();
  for (const n of graph.nodes) {
    const g = n.group ?? n.id;
    if (!groups.has(g)) groups.set(g, []);
    groups.get(g).push(n);
  }
  const boxes = [], shown = new Map(), boxOf = new Map();
  for (const [id, members] of groups) {
    const alone = members.length === 1;
    const box = {
      id: alone ? members[0].id : "group:" + id, group: id,
      kind: alone ? "node" : open.has(id) ? "open" : "folded",
      label: alone ? members[0].label : id || "(no package)", title: alone ? members[0].title : id,
      count: members.length, members,
      state: members.reduce((s, n) => worst(s, n.state || ""), ""),
      rank: members.reduce((r, n) => Math.min(r, n.rank ?? Infinity), Infinity),
    };
    boxes.push(box);
    for (const n of members) {
      shown.set(n.id, box.kind === "open" ? n.id : box.id);
      boxOf.set(n.id, box);
    }
  }
  const links = new Map();
  for (const e of graph.edges) {
    const from = shown.get(e.from), to = shown.get(e.to);
    if (from === undefined || to === undefined || from === to) continue;
    const key = from + "\n" + to;
    let l = links.get(key);
    if (!l) links.set(key, l = { from, to, count: 0, state: "", label: e.label, weight: 0, boxes: [boxOf.get(e.from), boxOf.get(e.to)] });
    l.count++;
    l.weight += e.weight ?? 1;
    l.state = worst(l.state, e.state || "");
  }
  return { boxes, links: [...links.values()] };
}

// layout gives each box and each member of an open box a place, and returns the scene to draw:
// {items, links, width, height}. Boxes stand in layers from left to right; a layer that would be
// too high takes several columns.
export function layout(folded, { aspect = 1.15 } = {}) {
  const boxes = folded.boxes;
  for (const b of boxes) measure(b);
  const between = neighbours(boxes, folded.links);
  const area = boxes.reduce((s, b) => s + (b.w + size.gapX) * (b.h + size.gapY), 0);
  const high = Math.max(Math.sqrt(area / aspect), ...boxes.map((b) => b.h));
  const layers = joined(layersOf(boxes, between), high);
  arrange(layers, between);
  const columns = layers.flatMap((layer) => columnsOf(layer, high));
  let x = 0, height = 0;
  for (const [n, c] of columns.entries()) {
    for (const b of c.boxes) b.column = n;
    c.height = c.boxes.reduce((s, b) => s + b.h + size.gapY, -size.gapY);
    height = Math.max(height, c.height);
  }
  for (const c of columns) {
    const w = Math.max(...c.boxes.map((b) => b.w));
    let y = (height - c.height) / 2;
    for (const b of c.boxes) {
      b.x = x;
      b.y = y;
      y += b.h + size.gapY;
    }
    Object.assign(c, { x, w, gap: c.last ? size.gapX : size.gapY * 2 });
    x += w + c.gap;
  }
  const items = [], at = new Map();
  const add = (item) => { at.set(item.id, items.length); items.push(item); };
  for (const b of boxes) {
    add({ ...b, members: undefined, nodes: b.members });
    if (b.kind !== "open") continue;
    b.members.forEach((n, i) => add({
      id: n.id, kind: "member", label: n.label, title: n.title, state: n.state || "", group: b.group, nodes: [n], count: 1, column: b.column,
      x: b.x + size.pad + (i % b.across) * (b.cell + 4), y: b.y + size.head + Math.floor(i / b.across) * (size.row + 2), w: b.cell, h: size.row,
    }));
  }
  const links = folded.links.map((l) => {
    const a = at.get(l.from), b = at.get(l.to), path = pathOf(items[a], items[b], columns);
    const xs = path.filter((_, i) => i % 2 === 0), ys = path.filter((_, i) => i % 2 === 1);
    return { ...l, boxes: undefined, a, b, path, left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
  });
  return { items, links, at, width: Math.max(0, x - size.gapX), height };
}

// measure sets the width and height of a box.
function measure(b) {
  if (b.kind !== "open") {
    b.w = widthOf(b.label, b.kind === "folded" ? 36 : 0);
    b.h = b.kind === "folded" ? size.row + 8 : size.row;
    return;
  }
  b.cell = Math.max(...b.members.map((n) => widthOf(n.label)));
  b.across = Math.max(1, Math.round(Math.sqrt(b.members.length * (size.row + 2) * 1.4 / b.cell)));
  b.w = Math.max(widthOf(b.label, 36), b.across * (b.cell + 4) - 4 + 2 * size.pad);
  b.h = size.head + Math.ceil(b.members.length / b.across) * (size.row + 2) + size.pad;
}

// neighbours returns for each box the boxes that it leads to and comes from.
function neighbours(boxes, links) {
  const all = new Map(boxes.map((b) => [b, { to: new Set(), from: new Set() }]));
  for (const { boxes: [a, b] } of links) {
    if (a === b) continue;
    all.get(a).to.add(b);
    all.get(b).from.add(a);
  }
  return all;
}

// layersOf returns the boxes by layer: by rank where boxes have one, else by the longest path along
// links. Where nearly everything leads to everything, that would give a layer for each box; then it
// is the distance from where links begin.
function layersOf(boxes, between) {
  const ranked = boxes.some((b) => b.rank < Infinity);
  let layer = ranked ? new Map(boxes.map((b) => [b, b.rank < Infinity ? b.rank : 0])) : longest(boxes, between);
  if (!ranked && new Set(layer.values()).size > 4 + 2 * Math.sqrt(boxes.length)) layer = nearest(boxes, between);
  const ranks = [...new Set(layer.values())].sort((a, b) => a - b);
  const layers = ranks.map(() => []), index = new Map(ranks.map((r, i) => [r, i]));
  for (const b of boxes) layers[index.get(layer.get(b))].push(b);
  return layers;
}

// joined puts thin layers that follow each other into one, as long as it is not too high, if there
// are more of them than a drawing has room for beside each other.
function joined(layers, high) {
  if (layers.length <= 5) return layers;
  const heightOf = (layer) => layer.reduce((s, b) => s + b.h + size.gapY, 0);
  const out = [layers[0]];
  let height = Infinity; // what changes stays by itself
  for (const layer of layers.slice(1)) {
    const own = heightOf(layer);
    if (height + own <= high * 1.1) {
      out.at(-1).push(...layer);
      height += own;
    } else {
      out.push([...layer]);
      height = own;
    }
  }
  return out;
}

const roots = (boxes, between) => [...boxes].sort((a, b) => between.get(a).from.size - between.get(b).from.size || between.get(b).to.size - between.get(a).to.size);

// longest returns for each box the length of the longest path to it, leaving out links that close a
// cycle: a depth-first search gives the order.
function longest(boxes, between) {
  const layer = new Map(), seen = new Set(), done = [];
  for (const root of roots(boxes, between)) {
    if (seen.has(root)) continue;
    seen.add(root);
    const path = [[root, between.get(root).to.values()]];
    while (path.length) {
      const [b, rest] = path.at(-1);
      const { value: next, done: end } = rest.next();
      if (end) {
        done.push(b);
        path.pop();
      } else if (!seen.has(next)) {
        seen.add(next);
        path.push([next, between.get(next).to.values()]);
      }
    }
  }
  const turn = new Map(done.reverse().map((b, i) => [b, i]));
  for (const b of done) {
    const own = layer.get(b) ?? 0;
    layer.set(b, own);
    for (const next of between.get(b).to) if (turn.get(next) > turn.get(b)) layer.set(next, Math.max(layer.get(next) ?? 0, own + 1));
  }
  return layer;
}

// nearest returns for each box the number of links from the nearest root.
function nearest(boxes, between) {
  const layer = new Map();
  for (const root of roots(boxes, between)) {
    if (layer.has(root)) continue;
    layer.set(root, 0);
    for (const queue = [root]; queue.length;) {
      const b = queue.shift();
      for (const next of between.get(b).to) if (!layer.has(next)) {
        layer.set(next, layer.get(b) + 1);
        queue.push(next);
      }
    }
  }
  return layer;
}

// arrange orders the boxes of each layer by the mean place of their neighbours in the other layers
// (the barycenter method of Sugiyama, Tagawa and Toda), so that few links cross.
function arrange(layers, between) {
  const place = new Map();
  const keep = (layer) => layer.forEach((b, i) => place.set(b, layer.length > 1 ? i / (layer.length - 1) : 0.5));
  for (const layer of layers) {
    layer.sort((a, b) => b.count - a.count || (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
    keep(layer);
  }
  for (let sweep = 0; sweep < 6; sweep++) {
    const side = sweep % 2 ? "to" : "from";
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      const mean = new Map(layer.map((b) => {
        let sum = 0, n = 0;
        for (const x of between.get(b)[side]) { sum += place.get(x); n++; }
        return [b, n ? sum / n : place.get(b)];
      }));
      layer.sort((a, b) => mean.get(a) - mean.get(b));
      keep(layer);
    }
  }
}

// columnsOf splits a layer into columns of at most a height.
function columnsOf(layer, high) {
  const columns = [];
  let height = Infinity;
  for (const b of layer) {
    if (height + b.h > high) {
      columns.push({ boxes: [] });
      height = 0;
    }
    columns.at(-1).boxes.push(b);
    height += b.h + size.gapY;
  }
  columns.at(-1).last = true;
  return columns;
}

const clear = 4; // between a link and the boxes that it passes

// pathOf returns the points of a link: where it begins, and three for each curve that follows. It
// passes the columns between its ends where they have no box.
function pathOf(a, b, columns) {
  if (a.kind === "member" && b.kind === "member" && a.group === b.group) return within(a, b);
  const end = b.y + b.h / 2, path = [];
  let x, y;
  const line = (nx) => {
    if (nx !== x) path.push(x + (nx - x) / 3, y, x + (nx - x) * 2 / 3, y, nx, y);
    x = nx;
  };
  const curve = (nx, ny, mid = (x + nx) / 2) => {
    path.push(mid, y, mid, ny, nx, ny);
    [x, y] = [nx, ny];
  };
  const right = (c) => columns[c].x + columns[c].w;
  const forth = b.column >= a.column;
  [x, y] = [forth ? a.x + a.w : a.x, a.y + a.h / 2];
  path.push(x, y);
  if (a.column === b.column) { // around the right side
    const edge = right(a.column);
    line(edge);
    curve(edge, end, edge + Math.min(columns[a.column].gap * 0.9, 26 + Math.abs(end - y) * 0.15));
    line(b.x + b.w);
    return path;
  }
  const step = forth ? 1 : -1, near = (c) => (forth ? columns[c].x : right(c)), far = (c) => (forth ? right(c) : columns[c].x);
  line(far(a.column));
  for (let c = a.column + step; c !== b.column; c += step) {
    curve(near(c), gapAt(columns[c].boxes, y + (end - y) / (Math.abs(b.column - c) + 1)));
    line(far(c));
  }
  curve(near(b.column), end);
  line(forth ? b.x : b.x + b.w);
  return path;
}

// gapAt returns the height nearest to y at which a column of boxes, ordered by height, has none.
function gapAt(boxes, y) {
  const last = boxes.at(-1);
  let best = y > last.y + last.h / 2 ? Math.max(y, last.y + last.h + 2 * clear) : Math.min(y, boxes[0].y - 2 * clear);
  for (let i = 1; i < boxes.length; i++) {
    const free = Math.min(Math.max(y, boxes[i - 1].y + boxes[i - 1].h + clear), boxes[i].y - clear);
    if (Math.abs(free - y) < Math.abs(best - y)) best = free;
  }
  return best;
}

// within returns the path of a link between two members of an open box: from the side of a that
// faces b, or around the right side where b stands above or below.
function within(a, b) {
  const ay = a.y + a.h / 2, by = b.y + b.h / 2;
  if (b.x >= a.x + a.w) {
    const bend = Math.max(24, (b.x - a.x - a.w) * 0.45);
    return [a.x + a.w, ay, a.x + a.w + bend, ay, b.x - bend, by, b.x, by];
  }
  if (a.x >= b.x + b.w) {
    const bend = Math.max(24, (a.x - b.x - b.w) * 0.45);
    return [a.x, ay, a.x - bend, ay, b.x + b.w + bend, by, b.x + b.w, by];
  }
  const bend = 26 + Math.min(60, Math.abs(by - ay) * 0.15), right = Math.max(a.x + a.w, b.x + b.w) + bend;
  return [a.x + a.w, ay, right, ay, right, by, b.x + b.w, by];
}

// step returns the item that lies next to one in a direction ("left", "right", "up", "down"), or
// undefined. What lies straight ahead is preferred.
export function step(scene, from, direction) {
  const cx = from.x + from.w / 2, cy = from.y + from.h / 2;
  let best, least = Infinity;
  for (const x of scene.items) {
    if (x.id === from.id) continue;
    const dx = x.x + x.w / 2 - cx, dy = x.y + x.h / 2 - cy;
    const [ahead, aside] = { left: [-dx, dy], right: [dx, dy], up: [-dy, dx], down: [dy, dx] }[direction];
    if (ahead <= 1) continue;
    const cost = ahead + 3 * Math.abs(aside);
    if (cost < least) [best, least] = [x, cost];
  }
  return best;
}
