// tree.js works on trees that are given as a list in tree order, each item with its depth. It is
// pure, and linear in the number of items.

// sizesOf returns for each item the number of items of its subtree, itself included.
export function sizesOf(items) {
  const sizes = new Uint32Array(items.length), path = [];
  for (let i = 0; i <= items.length; i++) {
    const depth = i < items.length ? items[i].depth : -1;
    while (path.length && items[path.at(-1)].depth >= depth) {
      const done = path.pop();
      sizes[done] = i - done;
    }
    path.push(i);
  }
  return sizes;
}

// parentsOf returns for each item the index of its parent, -1 for those at the top.
export function parentsOf(items) {
  const parents = new Int32Array(items.length), path = [];
  for (let i = 0; i < items.length; i++) {
    while (path.length && items[path.at(-1)].depth >= items[i].depth) path.pop();
    parents[i] = path.length ? path.at(-1) : -1;
    path.push(i);
  }
  return parents;
}

// rowsOf returns the indexes of the items to show, given the indexes of those that are collapsed.
export function rowsOf(sizes, collapsed) {
  const rows = [];
  for (let i = 0; i < sizes.length; i += collapsed.has(i) ? sizes[i] : 1) rows.push(i);
  return rows;
}

// gather returns for each item a combination of the values of its subtree.
export function gather(items, valueOf, combine) {
  const parents = parentsOf(items), out = items.map(valueOf);
  for (let i = items.length - 1; i >= 0; i--) if (parents[i] >= 0) out[parents[i]] = combine(out[parents[i]], out[i]);
  return out;
}

// pathTree returns items in tree order for a list of paths such as packages: [{path, name, depth,
// leaf}], where folders with one child only are joined with it.
export function pathTree(paths) {
  const root = { children: new Map() };
  for (const path of paths) {
    let at = root;
    for (const part of path.split("/").filter(Boolean)) {
      if (!at.children.has(part)) at.children.set(part, { children: new Map() });
      at = at.children.get(part);
    }
    at.leaf = path;
  }
  const out = [];
  const walk = (node, name, path, depth) => {
    while (node.leaf === undefined && node.children.size === 1) {
      const [[next, child]] = node.children;
      [name, path, node] = [name ? name + "/" + next : next, path ? path + "/" + next : next, child];
    }
    if (name) out.push({ path, name, depth, leaf: node.leaf });
    for (const [next, child] of [...node.children].sort(([a], [b]) => (a < b ? -1 : 1))) walk(child, next, path ? path + "/" + next : next, depth + (name ? 1 : 0));
  };
  walk(root, "", "", 0);
  return out;
}
