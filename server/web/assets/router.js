// router.js: the address is the state. A view shows what the path and the query name, and whatever
// it lets a person choose (filters, as-of, a selection, a zoom) it keeps in the query, so that the
// address can be shared and the back button works.
//
//   useLocation()             {view, rest, query}: "/command/ID?x=1" is view "command", rest "ID"
//   useParam("exit", "")      [value, set]: one value of the query; set(v) adds to the history,
//                             set(v, true) replaces (for typing and dragging)
//   href("why/" + id, {as_of}) an address; empty values are left out
//   go(href, {replace})       goes there; links within the page need no handler

import { useEffect, useReducer } from "./dom.js";

const listeners = new Set();
let current = read();

function read() {
  const path = location.pathname.slice(1);
  const slash = path.indexOf("/");
  const decode = (s) => { try { return decodeURIComponent(s); } catch { return s; } };
  return {
    view: slash < 0 ? path : path.slice(0, slash),
    rest: slash < 0 ? "" : decode(path.slice(slash + 1)),
    query: new URLSearchParams(location.search),
  };
}

function changed() {
  current = read();
  for (const tell of [...listeners]) tell();
}

addEventListener("popstate", changed);

/** @returns {{view: string, rest: string, query: URLSearchParams}} */
export function useLocation() {
  const [, redraw] = useReducer((n) => n + 1, 0);
  useEffect(() => { listeners.add(redraw); return () => listeners.delete(redraw); }, []);
  return current;
}

/**
 * go shows another address of the page.
 * @param {string} to
 * @param {{replace?: boolean}} [how]
 */
export function go(to, how = {}) {
  if (to === location.pathname + location.search) return;
  if (how.replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  changed();
}

/**
 * href makes an address. Elements of the path may hold any character.
 * @param {string} path without the first slash
 * @param {Record<string, unknown>} [params]
 */
export function href(path, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== "" && value !== false) query.set(name, String(value));
  }
  const text = query.toString();
  return "/" + path.split("/").map(encodeURIComponent).join("/") + (text && "?" + text);
}

/**
 * withParams returns the present address with some values of its query changed.
 * @param {Record<string, unknown>} changes
 */
export function withParams(changes) {
  const params = { ...Object.fromEntries(new URLSearchParams(location.search)), ...changes };
  const path = location.pathname;
  const query = href("", params);
  return path + query.slice(1);
}

/**
 * withName returns the present address with another name wherever one stands, in the path or the query.
 * @param {string} name
 * @param {string} other
 */
export function withName(name, other) {
  const { view, rest, query } = read();
  const params = Object.fromEntries([...query].map(([key, value]) => [key, value === name ? other : value]));
  return rest === "" ? href(view, params) : href(view + "/" + (rest === name ? other : rest), params);
}

/**
 * useParam is one value of the query.
 * @param {string} name
 * @param {string} [absent] what is meant if the query does not name it
 * @returns {[string, (value: string, replace?: boolean) => void]}
 */
export function useParam(name, absent = "") {
  const { query } = useLocation();
  const value = query.get(name) ?? absent;
  return [value, (next, replace = false) => go(withParams({ [name]: next === absent ? "" : next }), { replace })];
}

/** isInside reports whether a link leads to a view of the page. */
export function isInside(url, views) {
  return url.origin === location.origin && views.includes(url.pathname.split("/")[1]);
}
