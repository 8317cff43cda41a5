// ask.js: one question to commands, code, operations of services and agents' memory, and one list of
// what was found, the best of all kinds first. The kinds are filters. What is not sure looks so. Hits
// that are nearly the same, as commands of one template, are one row that unfolds; &fold=no lists all.

import { announce, html, useEffect, useMemo } from "../dom.js";
import { useAsk } from "../api.js";
import { CommandList, Outcome, shortPath, who } from "../commands.js";
import { Text, Time, count, duration, oneLine, plain, plural } from "../format.js";
import { Answer, Brief, Choice, Field, Form, symbolHref, useWorkspace, word } from "../parts.js";
import { At } from "../proof.js";
import { href, useParam, withParams } from "../router.js";

const limit = 20, most = 100;

/** The kinds, in the order of their chips. */
const kinds = [["", "All"], ["commands", "Commands"], ["code", "Code"], ["runtime", "Runtime"], ["agents", "Agents"]];

export default function Ask({ query }) {
  const q = query.get("q")?.trim() ?? "";
  const [kind] = useParam("kind", "");
  const [asOf] = useParam("as_of", "");
  const [many, setMany] = useParam("limit", "");
  const folds = query.get("fold") !== "no";
  const filters = {};
  const { workspace, choice } = useWorkspace();
  if (workspace) filters.workspace = workspace;
  for (const name of ["cwd", "session", "author", "host", "exit", "since", "until", "program"]) {
    const value = query.get(name);
    if (value) filters[name] = value;
  }
  const moment = asOf ? { as_of: asOf } : {};
  const wanted = Math.min(Math.max(Number(many) || limit, 1), most);
  const newest = useAsk("/v1/find", q === "" ? { limit: wanted, filters, ...moment } : null);
  // Twice as many as are shown, for those that are folded; if these are most of them, all that can be had.
  const look = (n) => ({ text: q, limit: n, filters: query.get("workspace") ? filters : { ...filters, workspace: undefined }, ...(kind && { kinds: [kind] }), ...moment });
  const first = useAsk("/v1/look", q === "" ? null : look(2 * wanted));
  const few = folds && !first.loading && first.data?.hits.length === 2 * wanted && 2 * wanted < 200 && alike(first.data.hits).length < wanted;
  const deeper = useAsk("/v1/look", few ? look(200) : null);
  const found = few && deeper.data ? deeper : first;
  const groups = useMemo(() => (found.data ? alike(found.data.hits, folds) : []), [found.data, folds]);
  const shown = groups.slice(0, wanted), folded = shown.reduce((n, g) => n + g.length - 1, 0);
  useEffect(() => { if (found.data) announce(plural(groups.length, "hit") + (found.data.sure ? "" : ", none sure")); }, [found.data]);
  const code = found.data?.proof?.find((x) => x.operator === "search" && x.inputs?.kind === "code")?.hits ?? [];
  const read = code.length === 1 ? code[0].position : undefined; // the commit whose graph the symbols are of
  const more = (full) => full && wanted < most && html`<p><button type="button" onClick=${() => setMany(String(Math.min(most, wanted * 3)))}>Show more</button></p>`;
  return html`<h1 class="sr">Ask${q && ": " + q}</h1>
    <${Filters} />
    ${q === "" ? html`<h2>Newest commands</h2>${choice}<${Answer} of=${newest} isEmpty=${(d) => d.hits.length === 0} empty=${Object.keys(filters).length ? "No command passes." : begin}>${(d) => html`<${CommandList} commands=${d.hits} label="Commands" params=${moment} />${more(d.hits.length === wanted)}`}<//>` :
      html`<${Chips} kind=${kind} of=${found.data} />
        <${Answer} of=${found} isEmpty=${(d) => d.hits.length === 0} empty=${html`Nothing. ${asOf || Object.keys(filters).length ? "" : html`<span class="dim">If nothing is recorded yet: <code>eval "$(recount hook bash)"</code>, <code>recount import history</code>, <code>recount import git .</code></span>`}`}>${(d) => html`
          ${!d.sure && html`<p class="notice">Not sure: what is listed has only some of the words.</p>`}
          ${(folded > 0 || !folds) && html`<p class="dim">${folds ? html`${plural(folded, "hit")} nearly the same as another ${folded === 1 ? "is" : "are"} folded. <a href=${withParams({ fold: "no" })}>List each</a>` : html`Each is listed. <a href=${withParams({ fold: "" })}>Fold those that are nearly the same</a>`}</p>`}
          <ol class="rows found" aria-label="Hits">${shown.map((g) => html`<${Hit} key=${g[0].kind + g[0].id} of=${g[0]} rest=${g.slice(1)} moment=${moment} read=${read} />`)}</ol>
          ${more(groups.length > wanted || !folds && d.hits.length === 2 * wanted)}`}<//>`}`;
}

const begin = html`Nothing is recorded yet. To begin: <code>eval "$(recount hook bash)"</code> in your shell's startup file, or <code>recount import history</code>.`;

/**
 * alike groups hits that are nearly the same: commands of one template, and what agents said with the
 * same beginning. The best of a group stands first, and the groups are in the order of their best.
 */
export function alike(hits, folds = true) {
  const groups = new Map();
  for (const h of hits) {
    const same = !folds ? "" : h.command?.template ? "c" + h.command.template : h.object ? "o" + h.object.type + (h.object.title || h.object.snippet || "").slice(0, 80) : "";
    const key = same || h.kind + h.id;
    if (groups.has(key)) groups.get(key).push(h);
    else groups.set(key, [h]);
  }
  return [...groups.values()];
}

/** Chips choose a kind, and say how many hits there are of each. */
function Chips({ kind, of }) {
  const known = new Map((of?.kinds ?? []).map((k) => [k.kind, k]));
  return html`<nav class="chips" aria-label="Kinds">${kinds.map(([name, label]) => {
    const k = known.get(name);
    return html`<a href=${withParams({ kind: name, limit: "" })} aria-current=${name === kind ? "true" : undefined} class=${k?.left_out ? "left" : ""} title=${k?.left_out}>${label}${k && html` <span class="dim">${k.left_out ? "–" : count(k.found) + (k.more ? "+" : "")}</span>`}</a>`;
  })}</nav>
  ${[...known.values()].some((k) => k.left_out) && html`<p class="dim">Left out: ${[...known.values()].filter((k) => k.left_out).map((k) => `${k.kind} (${k.left_out})`).join(", ")}.</p>`}`;
}

/** Hit is one hit of any kind, and those that are nearly the same. */
function Hit({ of: h, rest, moment, read }) {
  const [main, details] = piecesOf(h, moment, read);
  const p = h.parts, failed = rest.filter((x) => x.command?.exit_code > 0).length;
  return html`<li class=${h.sure ? "" : "unsure"}>
    <span class="tag kind">${h.kind}</span>
    <div>${main}<div class="dim">${details}</div>
      ${rest.length > 0 && html`<details class="alike"><summary>${plural(rest.length, "more like it", "more like it")}${failed > 0 && html`, <span class="bad">${count(failed)} failed</span>`}</summary>
        <ol>${rest.map((x) => { const [line, about] = piecesOf(x, moment); return html`<li key=${x.id}>${line} <span class="dim">${about}</span></li>`; })}</ol></details>`}</div>
    <span class="dim fit" title=${`how well it fits, from 0 to 1: words ${p.words.toFixed(2)}, title ${p.title.toFixed(2)}, standing among its kind ${p.standing.toFixed(2)}${p.named ? ", kind named" : ""}`}>${h.sure ? "" : "perhaps "}${h.score.toFixed(2)}</span></li>`;
}

const piecesOf = (h, moment, read) => (h.command ? command(h.command, moment) : h.symbol ? symbol(h.symbol, read) : h.operation ? operation(h.operation) : object(h.object));

function command(c, moment) {
  return [html`<a data-item href=${href("command/" + c.id, moment)}><${Outcome} of=${c} /> <code><${Brief} value=${c.command} max=${300} /></code></a>`,
    html`<${Time} at=${c.time} unknown=${c.time_unknown} /> <span title=${plain(c.cwd ?? "")}>${plain(shortPath(c.cwd ?? ""))}</span> ${plain(who(c))} ${c.exit_code > 0 && html`<a href=${href("why/" + c.id)}>why</a> `}<${At} position=${c.position} />`];
}

function symbol(s, read) {
  return [html`<a data-item href=${symbolHref(s)}><code>${word(s.name)}</code></a> <span class="tag">${s.kind}</span> <span class="dim">${word(s.file)}${s.line ? ":" + s.line : ""}</span>`,
    html`${s.signature && html`<code><${Text} value=${oneLine(s.signature)} max=${200} /></code> `}${s.doc && html`<${Text} value=${s.doc} max=${200} />`} <${At} position=${read} />`];
}

function operation(o) {
  return [html`<a data-item href=${href("runtime", { service: o.service, operation: o.operation })}>${word(o.operation)}</a> <span class="dim">${word(o.service)}</span>`,
    html`${plural(o.count ?? 0, "request")}${o.errors > 0 && html`, <span class="bad">${plural(o.errors, "error")}</span>`}${o.p95_ns !== undefined && html`, p95 ${duration(o.p95_ns)}`} ${(o.examples ?? []).slice(0, 3).map((e) => html`<${At} position=${e.position} /> `)}`];
}

function object(o) {
  const begins = o.title && !(o.snippet ?? "").startsWith(o.title) ? o.title : o.snippet || o.id;
  return [html`<a data-item href=${href("agents/" + o.id)}><${Brief} value=${begins} max=${240} /></a>`,
    html`${begins === o.title && o.snippet && html`<div><${Brief} value=${o.snippet} max=${300} /></div>`}${[o.type, o.memory, o.agent].filter(Boolean).map((x) => html`<span class="tag">${word(x, 80)}</span> `)}<${Time} at=${o.time} /> <${At} position=${o.position} />`];
}

/** Filters restrict the hits; all are in the address. */
function Filters() {
  return html`<${Form} label="Filters"><${Choice} name="exit" label="outcome" options=${[["", "any"], ["ok", "succeeded"], ["fail", "failed"], ["unknown", "unknown"]]} />
    <${Field} name="cwd" label="directory" /><${Field} name="author" label="author or agent" /><${Field} name="session" label="session" /><${Field} name="as_of" label="as of (time)" /><//>`;
}
