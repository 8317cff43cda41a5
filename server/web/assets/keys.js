// keys.js: the keyboard.
//
//   useKey("s", "sort by size", fn)   a key of a view, while it is shown; listed by "?"
//   data-item                         an element that j and k move among (a link or a button, or
//                                     anything with tabindex); enter does what it does by itself
//
// Keys are silent while something is typed into, and with ctrl, alt or meta.

import { html, useEffect, useRef } from "./dom.js";

/** @type {Map<string, {what: string, fn: (e: KeyboardEvent) => void}[]>} */
const keys = new Map();

/**
 * useKey binds a key while a component is shown. The latest binding of a key counts.
 * @param {string} key as KeyboardEvent.key
 * @param {string} what it does, for the list of keys
 * @param {(e: KeyboardEvent) => void} fn
 */
export function useKey(key, what, fn) {
  const latest = useRef(fn);
  latest.current = fn;
  useEffect(() => {
    const entry = { what, fn: (e) => latest.current(e) };
    keys.set(key, [...(keys.get(key) ?? []), entry]);
    return () => keys.set(key, keys.get(key).filter((x) => x !== entry));
  }, [key, what]);
}

/** allKeys lists the keys that are bound now. */
export function allKeys() {
  return [...keys].filter(([, list]) => list.length > 0).map(([key, list]) => ({ key, what: list.at(-1).what }));
}

/** move focuses the next item, or the one before. */
export function move(by) {
  const items = [...document.querySelectorAll("[data-item]")].filter((e) => e.offsetParent !== null);
  if (items.length === 0) return;
  const at = items.findIndex((e) => e === document.activeElement || e.contains(document.activeElement));
  const next = items[at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(Math.max(at + by, 0), items.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.altKey || e.metaKey || e.isComposing || e.defaultPrevented) return;
  const typing = e.target instanceof Element && e.target.matches("input:not([type=range], [type=checkbox]), textarea, select, [contenteditable]");
  if (typing || document.querySelector("dialog[open]")) return;
  const bound = keys.get(e.key)?.at(-1);
  if (!bound) return;
  e.preventDefault();
  bound.fn(e);
});

/** KeyList is the content of the list of keys. */
export function KeyList() {
  return html`<dl class="keys">${allKeys().map(({ key, what }) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}
    <div><dt><kbd>enter</kbd></dt><dd>open what has the focus</dd></div><div><dt><kbd>esc</kbd></dt><dd>close this</dd></div></dl>`;
}
