// ask.js: one question to commands, code, operations of services and agents' memory, and one list of
// what was found, the best of all kinds first. The kinds are filters. What is not sure looks so.

import { announce, html, useEffect } from "../dom.js";
import { useAsk } from "../api.js";
import { CommandList, Outcome, shortPath, who } from "../commands.js";
import { Text, Time, count, duration, oneLine, plain, plural } from "../format.js";
import { Answer, Choice, Field, Form, symbolHref, word } from "../parts.js";
import { At } from "../proof.js";
import { href, useParam, withParams } from "../router.js";

const limit = 20, most = 200;

/** The kinds, in the order of their chips. */
const kinds = [["", "All"], ["commands", "Commands"], ["code", "Code"], ["runtime", "Runtime"], ["agents", "Agents"]];

export default function Ask({ query }) {
  const q = query.get("q")?.trim() ?? "";
  const [kind] = useParam("kind", "");
  const [asOf] = useParam("as_of", "");
  const [many, setMany] = useParam("limit", "");
  const filters = {};
  for (const name of ["cwd", "session", "author", "host", "exit", "since", "until", "program"]) {
    const value = query.get(name);
    if (value) filters[name] = value;
  }
  const moment = asOf ? { as_of: asOf } : {};
  const wanted = Math.min(Math.max(Number(many) || limit, 1), most);
  const newest = useAsk("/v1/find", q === "" ? { limit: wanted, filters, ...moment } : null);
  const found = useAsk("/v1/look", q === "" ? null : { text: q, limit: wanted, filters, ...(kind && { kinds: [kind] }), ...moment });
  useEffect(() => { if (found.data) announce(plural(found.data.hits.length, "hit") + (found.data.sure ? "" : ", none sure")); }, [found.data]);
  return html`<h1 class="sr">Ask${q && ": " + q}</h1>
    <${Filters} />
    ${q === "" ? html`<h2>Newest commands</h2><${Answer} of=${newest} isEmpty=${(d) => d.hits.length === 0} empty="No command passes.">${(d) => html`<${CommandList} commands=${d.hits} label="Commands" params=${moment} />`}<//>` :
      html`<${Chips} kind=${kind} of=${found.data} />
        <${Answer} of=${found} isEmpty=${(d) => d.hits.length === 0} empty="Nothing.">${(d) => html`
          ${!d.sure && html`<p class="notice">Not sure: what is listed has only some of the words.</p>`}
          <ol class="rows found" aria-label="Hits">${d.hits.map((h) => html`<${Hit} key=${h.kind + h.id} of=${h} moment=${moment} />`)}</ol>
          ${d.hits.length === wanted && wanted < most && html`<p><button type="button" onClick=${() => setMany(String(Math.min(most, wanted * 3)))}>Show more</button></p>`}`}<//>`}`;
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

/** Hit is one hit of any kind. */
function Hit({ of: h, moment }) {
  const [main, details] = h.command ? command(h.command, moment) : h.symbol ? symbol(h.symbol) : h.operation ? operation(h.operation) : object(h.object);
  const p = h.parts;
  return html`<li class=${h.sure ? "" : "unsure"}>
    <span class="tag kind">${h.kind}</span> ${main}
    <div class="dim">${details} <span class="fit" title=${`words ${p.words.toFixed(2)}, title ${p.title.toFixed(2)}, standing among its kind ${p.standing.toFixed(2)}${p.named ? ", kind named" : ""}`}>${h.sure ? "" : "perhaps "}${h.score.toFixed(2)}</span></div></li>`;
}

function command(c, moment) {
  return [html`<a data-item href=${href("command/" + c.id, moment)}><${Outcome} of=${c} /> <code><${Text} value=${oneLine(c.command)} max=${320} /></code></a>`,
    html`<${Time} at=${c.time} unknown=${c.time_unknown} /> <span title=${plain(c.cwd ?? "")}>${plain(shortPath(c.cwd ?? ""))}</span> ${plain(who(c))} ${c.exit_code > 0 && html`<a href=${href("why/" + c.id)}>why</a> `}<${At} position=${c.position} />`];
}

function symbol(s) {
  return [html`<a data-item href=${symbolHref(s)}><code>${word(s.name)}</code></a> <span class="tag">${s.kind}</span> <span class="dim">${word(s.file)}${s.line ? ":" + s.line : ""}</span>`,
    html`${s.signature && html`<code><${Text} value=${oneLine(s.signature)} max=${200} /></code> `}${s.doc && html`<${Text} value=${s.doc} max=${200} />`}`];
}

function operation(o) {
  return [html`<a data-item href=${href("runtime", { service: o.service, operation: o.operation })}>${word(o.operation)}</a> <span class="dim">${word(o.service)}</span>`,
    html`${plural(o.count ?? 0, "request")}${o.errors > 0 && html`, <span class="bad">${plural(o.errors, "error")}</span>`}${o.p95_ns !== undefined && html`, p95 ${duration(o.p95_ns)}`}`];
}

function object(o) {
  return [html`<a data-item href=${href("agents/" + o.id)}><${Text} value=${oneLine(o.title || o.snippet || o.id)} max=${160} /></a>`,
    html`${o.title && o.snippet && html`<div><${Text} value=${o.snippet} max=${240} /></div>`}${[o.type, o.memory, o.agent].filter(Boolean).map((x) => html`<span class="tag">${word(x, 80)}</span> `)}<${Time} at=${o.time} /> <${At} position=${o.position} />`];
}

/** Filters restrict the hits; all are in the address. */
function Filters() {
  return html`<${Form} label="Filters"><${Choice} name="exit" label="outcome" options=${[["", "any"], ["ok", "succeeded"], ["fail", "failed"], ["unknown", "unknown"]]} />
    <${Field} name="cwd" label="directory" /><${Field} name="author" label="author or agent" /><${Field} name="session" label="session" /><${Field} name="as_of" label="as of (time)" /><//>`;
}
