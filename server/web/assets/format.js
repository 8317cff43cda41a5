// format.js: showing values. What comes from the log is hostile until shown: strings are text nodes,
// control characters and bidi overrides are drawn as marks, and long ones are cut.
//
//   html`<${Text} value=${s} />`          a string, marked and cut; lines=${20} keeps the last lines
//   html`<${Time} at=${iso} />`           "5 min ago", with the full time and zone on hover
//   html`<${Failed} error=${err} />`      an ApiError with what would mend it
//   duration(ns) size(bytes) count(n) when(iso) ago(iso) positionText({topic, partition, offset})

import { html, useState } from "./dom.js";
import { serverNow } from "./api.js";
import { withName } from "./router.js";

const cut = 2000; // characters that Text shows at first
const brief = 24; // up to which a string is short: cells of tables do not break it
const named = {
  "\u200e": "LRM", "\u200f": "RLM", "\u061c": "ALM", "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO",
  "\u202e": "RLO", "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI", "\ufeff": "BOM", "\u200b": "ZWSP",
  "\u2028": "LS", "\u2029": "PS", "\u007f": "DEL",
};
// Tab and newline stay; the rest of C0, C1, the characters that reorder or hide text.
const odd = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const oddAll = new RegExp(odd.source, "g");

const controls = "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(" ");

function markOf(c) {
  const code = c.charCodeAt(0);
  if (named[c]) return named[c];
  return code < 0x20 ? controls[code] : "U+" + code.toString(16).toUpperCase().padStart(4, "0");
}

/** plain returns a string with its odd characters written out, for attributes, titles and canvas. */
export function plain(s) {
  return odd.test(s) ? s.replace(oddAll, (c) => "⟨" + markOf(c) + "⟩") : s;
}

/** marked returns the parts of a string, odd characters as elements. */
function marked(s) {
  if (!odd.test(s)) return s;
  const parts = [];
  let from = 0;
  for (const { index, 0: c } of s.matchAll(oddAll)) {
    if (parts.length > 4000) break; // a binary file: the rest as text
    if (index > from) parts.push(s.slice(from, index));
    parts.push(html`<span class="odd">${markOf(c)}</span>`);
    from = index + 1;
  }
  parts.push(plain(s.slice(from)));
  return parts;
}

/**
 * Text shows a string from the log.
 * @param {{value?: string, lines?: number, class?: string, max?: number}} props
 */
export function Text({ value = "", lines = 0, max = cut, class: name = "" }) {
  const [whole, show] = useState(false);
  let shown = value.includes("\r\n") ? value.replaceAll("\r\n", "\n") : value; // lines of Windows are lines
  const all = shown.length;
  if (!whole) {
    if (lines > 0) shown = lastLines(shown, lines);
    if (shown.length > max) shown = lines > 0 ? shown.slice(-max) : shown.slice(0, max);
  }
  const left = all - shown.length;
  return html`<bdi class=${"text " + (value.length <= brief ? "short " : "") + name}>${marked(shown)}${left > 0 && html`${lines > 0 ? "" : "…"} <button type="button" class="more" onClick=${(e) => { e.preventDefault(); e.stopPropagation(); show(true); }}>show all (${size(value.length)})</button>`}</bdi>`;
}

function lastLines(s, n) {
  let at = s.endsWith("\n") ? s.length - 1 : s.length;
  for (; n > 0 && at > 0; n--) at = s.lastIndexOf("\n", at - 1);
  return at > 0 ? s.slice(at + 1) : s;
}

/** oneLine is the first line of a string, cut, for lists. */
export function oneLine(s, max = 300) {
  const end = s.indexOf("\n");
  const line = end < 0 ? s : s.slice(0, end) + " ⏎";
  return line.length > max ? line.slice(0, max) + "…" : line;
}

const full = new Intl.DateTimeFormat("sv-SE", {
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});

/** when is a time in full, in the zone of the person who looks. */
export function when(at) {
  const t = new Date(at);
  return isNaN(t) ? String(at) : full.format(t);
}

/** ago is the age of a time, by the server's clock. */
export function ago(at) {
  const s = (serverNow() - new Date(at).getTime()) / 1000;
  if (isNaN(s)) return "";
  const age = Math.abs(s) < 1.5 ? "now" : span(Math.abs(s));
  if (age === "now") return age;
  return s < 0 ? "in " + age : age + " ago";
}

function span(s) {
  for (const [unit, seconds] of [["y", 31557600], ["mo", 2629800], ["d", 86400], ["h", 3600], ["min", 60]]) {
    if (s >= seconds) return Math.floor(s / seconds) + " " + unit;
  }
  return Math.floor(s) + " s";
}

/**
 * Time shows the age of a time. A time that a history did not have is said to be unknown: such commands
 * are in the first day of 1970, where only their order counts (schemas.TimeUnknown).
 * @param {{at?: string, unknown?: boolean, absolute?: boolean}} props
 */
export function Time({ at, unknown = false, absolute = false }) {
  if (!at || unknown || new Date(at) < new Date(86400e3)) return html`<span class="dim">time unknown</span>`;
  return html`<time datetime=${at} title=${when(at)}>${absolute ? when(at) : ago(at)}</time>`;
}

/** duration writes nanoseconds: in one unit, or in two of which the second is left out if it is zero. */
export function duration(ns) {
  if (ns === undefined || ns === null) return "";
  const µs = Math.round(ns / 1e3), ms = Math.round(ns / 1e6), s = Math.round(ns / 1e9), min = Math.round(ns / 60e9);
  const two = (n, unit, of, below) => Math.floor(n / of) + " " + unit + (n % of ? " " + (n % of) + " " + below : "");
  if (µs < 1000) return µs + " µs";
  if (ms < 1000) return ms + " ms";
  if (s < 60) return (ns / 1e9).toFixed(ns < 9.95e9 ? 1 : 0) + " s";
  if (min < 1440) return s < 3600 ? two(s, "min", 60, "s") : two(min, "h", 60, "min");
  return two(Math.round(ns / 3600e9), "d", 24, "h");
}

/** size writes bytes. */
export function size(n) {
  if (n < 1000) return n + " B";
  for (const unit of ["KB", "MB", "GB"]) {
    n /= 1000;
    if (n < 1000) return n.toFixed(n < 10 ? 1 : 0) + " " + unit;
  }
  return (n / 1000).toFixed(1) + " TB";
}

const numbers = new Intl.NumberFormat("en");
/** count writes a number with separators. */
export const count = (n) => numbers.format(n);

/** plural writes a number and its noun. */
export const plural = (n, one, many = one + "s") => count(n) + " " + (n === 1 ? one : many);

/** positionText is a position as everywhere in Recount; some answers have it as text already. */
export const positionText = (p) => (typeof p === "string" ? p : `${p.topic}/${p.partition}/${p.offset}`);

/**
 * Failed shows an error, with what the server says would be right.
 * @param {{error: any, retry?: () => void}} props
 */
export function Failed({ error, retry }) {
  if (!error) return null;
  const problem = error.problem ?? { detail: String(error.message ?? error) };
  if (problem.type === "urn:recount:ambiguous") return html`<${Ambiguous} problem=${problem} />`;
  if (error.status === 404 && error.passes) return html`<p class="notice" role="status"><${Text} value=${problem.detail} /></p>`;
  const names = { 403: "Not allowed. ", 404: "Not found. ", 410: "Erased. " };
  const title = error.status === 404 && problem.detail?.includes("not found") ? "" : names[error.status] ?? "";
  return html`<div class="failed" role="alert">
    <p>${title}<${Text} value=${problem.detail ?? error.message} /></p>
    ${(problem.errors ?? []).filter((e) => e?.message && !problem.detail?.includes(e.message)).map((e) => html`<p class="dim">${e.location && html`<code>${e.location}</code>: `}<${Text} value=${e.message} /></p>`)}
    ${retry && (error.status === 0 || error.status >= 500) && html`<button type="button" onClick=${retry}>Ask again</button>`}
  </div>`;
}

/** Ambiguous offers what a name may mean; a choice takes the name's place in the address. */
function Ambiguous({ problem }) {
  const values = problem.errors.map((e) => e.value), reference = values.pop(), name = reference.name ?? reference;
  return html`<div role="alert"><p><code>${plain(name)}</code> may mean:</p>
    <ul class="rows">${values.map((v) => html`<li><a data-item href=${withName(name, v.name ?? v.id)}><code>${plain(v.name ?? v.id)}</code></a>
      <span class="dim"><${Text} value=${v.is ?? v.command ?? ""} /> ${v.time && html`<${Time} at=${v.time} />`}</span></li>`)}</ul>
    ${reference.more > 0 && html`<p class="dim">${count(reference.more)} more are not listed.</p>`}</div>`;
}

/** Loading says that something is under way; it is drawn only if that takes a while (style.css). */
export function Loading({ what = "Loading" }) {
  return html`<p class="loading" role="status">${what}…</p>`;
}
