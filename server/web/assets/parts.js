// parts.js: pieces that several views are made of.
//
//   html`<${Tabs} label="Code" tabs=${[["", "Repositories"], …]} base="code" at=${rest} />`
//   html`<${Field} name="repo" label="repository" />`   a value of the address, as an input
//   html`<${Answer} of=${useAsk(…)} empty="…">${(data) => …}<//>`  the states of an answer
//   html`<${Table} label="…" columns=${[…]} rows=${[…]} />`        a table that sorts and grows
//   html`<${Symbol} of=${symbol} rev=${rev} />`  a symbol as a link, with its place

import { html, useEffect, useMemo, useRef, useState } from "./dom.js";
import { useGet } from "./api.js";
import { Failed, Loading, Text, Time, count, oneLine, plain } from "./format.js";
import { At, Proof } from "./proof.js";
import { href, useParam, withParams } from "./router.js";

/** word is a name, a path or another string that is short as a rule: cut, with odd characters written out. */
export const word = (s = "", max = 300) => plain(s.length > max ? s.slice(0, max) + "…" : s);

/** Tabs links the parts of a view; keep names values of the query that stay. */
export function Tabs({ label, tabs, base, at, keep = {} }) {
  return html`<nav class="tabs" aria-label=${label}>${tabs.map(([path, name]) => html`<a href=${href(path ? base + "/" + path : base, keep)} aria-current=${path === at ? "page" : undefined}>${name}</a>`)}</nav>`;
}

/** Field is an input whose value is in the address. */
export function Field({ name, label, size = 14, list, placeholder }) {
  const [value, set] = useParam(name, "");
  const id = list && "list-" + name;
  return html`<label>${label}<input type="text" value=${value} size=${size} list=${id} placeholder=${placeholder} spellcheck="false" autocomplete="off" maxlength="4096" onChange=${(e) => set(e.target.value.trim())} />
    ${list && html`<datalist id=${id}>${list.map((v) => html`<option value=${v} />`)}</datalist>`}</label>`;
}

/** Choice is a select whose value is in the address: options are [value, name]. */
export function Choice({ name, label, options }) {
  const [value, set] = useParam(name, options[0][0]);
  return html`<label>${label}<select value=${value} onChange=${(e) => set(e.target.value)}>${options.map(([v, n]) => html`<option value=${v} selected=${v === value}>${n}</option>`)}</select></label>`;
}

/**
 * useWorkspace is the workspace of the address. Somebody whose token has some workspaces looks at one of
 * them at a time, the first if the address names none: choice is then what chooses another.
 * @returns {{workspace: string, choice: any}}
 */
export function useWorkspace() {
  const [value] = useParam("workspace", "");
  const own = useGet("/session").data;
  const list = own?.login && !own.operator && !(own.workspaces ?? []).includes("*") ? own.workspaces ?? [] : [];
  const workspace = value || list[0] || "";
  const choice = list.length > 1 && html`<nav class="chips" aria-label="Workspaces">${list.map((w) => html`<a href=${withParams({ workspace: w })} aria-current=${w === workspace ? "true" : undefined}>${word(w, 80)}</a>`)}</nav>`;
  return { workspace, choice };
}

/** Form holds Fields; enter in one of them applies it. */
export function Form({ label, children }) {
  return html`<form class="filters" aria-label=${label} onSubmit=${(e) => { e.preventDefault(); document.activeElement?.blur(); }}>${children}</form>`;
}

/**
 * Answer shows what a question came to: the error, that it is being asked, that there is nothing and
 * why, or what its child makes of the data, with the proof below. none is for when no code was
 * imported at all.
 */
export function Answer({ of, empty, none, isEmpty = () => false, proof = true, what, children }) {
  if (none && of.error?.status === 404 && /no code was imported/.test(of.error.message)) return html`<p class="empty">${none}</p>`;
  if (of.error) return html`<${Failed} error=${of.error} retry=${of.reload} />`;
  if (!of.data) return of.loading ? html`<${Loading} what=${what} />` : null;
  const nothing = isEmpty(of.data);
  return html`<div aria-busy=${of.loading ? "true" : "false"} class=${of.loading ? "renewing" : ""}>
    ${nothing ? html`<p class="empty">${empty}</p>` : children(of.data)}
    ${of.data.hint && html`<p class="dim"><${Text} value=${of.data.hint} /></p>`}
    ${proof && html`<${Proof} of=${of.data} />`}</div>`;
}

const page = 100;

/**
 * Table shows rows, at first 100 of them. A column is {name, of(row), num?, by?(row), title?}; those
 * with by sort when their head is pressed. The order is in the address if sort names its parameter.
 */
export function Table({ label, columns, rows, sort = "", keyOf, class: name = "" }) {
  const [inAddress, setAddress] = useParam(sort || "sort", "");
  const [own, setOwn] = useState("");
  const [order, setOrder] = sort ? [inAddress, setAddress] : [own, setOwn];
  const [most, show] = useState(page);
  const down = order.startsWith("-"), column = columns.find((c) => c.by && c.name === order.replace("-", ""));
  const sorted = useMemo(() => {
    if (!column) return rows;
    const way = down ? -1 : 1;
    return [...rows].sort((a, b) => {
      const x = column.by(a), y = column.by(b);
      return (x === y ? 0 : x === undefined ? 1 : y === undefined ? -1 : x < y ? -1 : 1) * way;
    });
  }, [rows, column?.name, down]);
  const press = (c) => setOrder(order === (c.num ? "-" : "") + c.name ? (c.num ? "" : "-") + c.name : (c.num ? "-" : "") + c.name);
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${label}><table class=${name}>
    <thead><tr>${columns.map((c) => html`<th scope="col" class=${c.num ? "num" : ""} title=${c.title} aria-sort=${column === c ? (down ? "descending" : "ascending") : undefined}>
      ${c.by ? html`<button type="button" class="head" onClick=${() => press(c)}>${c.name}<span aria-hidden="true">${column === c ? (down ? " ↓" : " ↑") : ""}</span></button>` : c.name}</th>`)}</tr></thead>
    <tbody>${sorted.slice(0, most).map((r, i) => html`<tr key=${keyOf ? keyOf(r) : i}>${columns.map((c) => html`<td class=${c.num ? "num" : ""}>${c.of(r)}</td>`)}</tr>`)}</tbody></table>
    ${sorted.length > most && html`<p><button type="button" onClick=${() => show(most + 10 * page)}>Show ${count(Math.min(10 * page, sorted.length - most))} more of ${count(sorted.length)}</button></p>`}</div>`;
}

/** symbolHref is the address of a symbol: by place where names may be ambiguous. */
export const symbolHref = (s, rev) => href("code/symbol", { name: s.file && s.line ? s.file + ":" + s.line : s.name, repo: s.repo, at: rev });

/** Symbol is a symbol as a link, with its kind and place. */
export function Symbol({ of: s, rev, place = true }) {
  return html`<a data-item href=${symbolHref(s, rev)}><code>${word(s.name)}</code></a>${s.kind && html` <span class="tag">${s.kind}</span>`}${s.test && html` <span class="tag">test</span>`}${place && html` <span class="dim place">${word(s.file)}${s.line ? ":" + s.line : ""}</span>`}`;
}

/** Revision says which commit an answer is about. */
export function Revision({ of: r }) {
  if (!r?.commit) return null;
  return html`<span class="revision"><span class="dim">${word(r.repo)}</span> <code title=${"snapshot " + r.snapshot}>${r.commit.slice(0, 10)}</code> <${Brief} value=${r.subject} /> <span class="dim">${r.time && html`<${Time} at=${r.time} />`}</span> <${At} position=${r.position} /></span>`;
}

/** Changed is the last commit that changed something. */
export function Changed({ of: c }) {
  if (!c) return null;
  return html`<code>${c.commit.slice(0, 10)}</code> <${Brief} value=${c.subject} max=${140} /> <span class="dim">${word(c.author ?? "")}${c.by === "file" ? ", by its file" : ""}${c.time && html`, <${Time} at=${c.time} />`}</span> <${At} position=${c.position} />`;
}

/** Brief is a string on one line, cut without a way to see the rest: for lists and cells. */
export function Brief({ value = "", max = 120 }) {
  return html`<${Text} value=${oneLine(value, max)} max=${max + 8} />`;
}

/** Heading is the title of a part of a view, and of the window. live says that it renews itself. */
export function Heading({ live, children }) {
  const h1 = useRef(null);
  useEffect(() => {
    const title = h1.current.textContent.trim() + " · Recount";
    if (document.title !== title) document.title = title;
  });
  return html`<div class="heading"><h1 ref=${h1}>${children}</h1>${live && html`<span class="dim live">live</span>`}</div>`;
}

/** percent writes a fraction: "0.4%", "12%". */
export const percent = (f) => (!f ? "0%" : f < 0.001 ? "<0.1%" : (f * 100).toFixed(f < 0.1 ? 1 : 0) + "%");

/** Announced lists who has announced work on what is shown. */
export function Announced({ of }) {
  if (!of?.length) return null;
  return html`<div class="notice" role="note">${of.map((a) => html`<p><strong>${word(a.agent ?? "somebody")}</strong> works on <code>${word(a.subject)}</code> until <${Time} at=${a.until} absolute />${a.why && html`: <${Text} value=${a.why} max=${200} />`} <${At} position=${a.position} /></p>`)}</div>`;
}
