// ask.js: one question to commands, code, spans and agents at once. Each kind is asked by itself and
// shows what it has as soon as it has it; a kind that the token may not see says so.

import { announce, html, useEffect } from "../dom.js";
import { useAsk } from "../api.js";
import { CommandList } from "../commands.js";
import { Failed, Loading, Text, Time, count, duration, plural } from "../format.js";
import { symbolHref } from "../parts.js";
import { At, Proof } from "../proof.js";
import { href, useParam } from "../router.js";

const limit = 12;

export default function Ask({ query }) {
  const q = query.get("q")?.trim() ?? "";
  const [only, setOnly] = useParam("kind", "");
  const [asOf] = useParam("as_of", "");
  const filters = {};
  for (const name of ["cwd", "session", "author", "host", "exit", "since", "until", "program"]) {
    const value = query.get(name);
    if (value) filters[name] = value;
  }
  const on = (kind) => q !== "" && (!only || only === kind);
  const moment = asOf ? { as_of: asOf } : {};
  const commands = useAsk("/v1/find", on("commands") || q === "" ? { text: q, limit: only ? 100 : limit, filters, ...moment } : null);
  const code = useAsk("/v1/code/symbols", on("code") ? { text: q, limit: only ? 100 : limit } : null);
  const runtime = useAsk("/v1/runtime/traffic", on("runtime") ? { operation: q, limit: only ? 100 : limit } : null);
  const agents = useAsk("/v1/query", on("agents") ? { text: q, limit: only ? 100 : limit, mode: "objects", ...moment } : null);
  const found = [commands, code, runtime, agents].filter((a) => a.data).length;
  useEffect(() => { if (q && found > 0) announce(`${commands.data?.hits.length ?? 0} commands, ${code.data?.symbols.length ?? 0} symbols, ${runtime.data?.operations.length ?? 0} operations, ${agents.data?.objects.length ?? 0} of agents`); }, [q, found, commands.data, code.data]);
  return html`<h1 class="sr">Ask${q && ": " + q}</h1>
    <${Filters} only=${only} setOnly=${setOnly} />
    <div class=${q && !only ? "columns" : ""}>
      ${(on("commands") || q === "") && html`<${Part} title=${q ? "Commands" : "Newest commands"} of=${commands} hits=${commands.data?.hits} hint=${commands.data?.hint}>${(hits) => html`<${CommandList} commands=${hits} label="Commands" params=${moment} note=${(c) => html`<${Evidence} of=${c} />`} />`}<//>`}
      ${on("code") && html`<${Part} title="Code" of=${code} hits=${code.data?.symbols} hint=${code.data?.hint}>${(hits) => html`<${Symbols} of=${hits} />`}<//>`}
      ${on("runtime") && html`<${Part} title="Runtime" of=${runtime} hits=${runtime.data?.operations} hint=${runtime.data?.hint}>${(hits) => html`<${Operations} of=${hits} />`}<//>`}
      ${on("agents") && html`<${Part} title="Agents" of=${agents} hits=${agents.data?.objects} hint=${agents.data?.hint}>${(hits) => html`<${Objects} of=${hits} />`}<//>`}
    </div>`;
}

/** Part is one kind of hits with its own state. */
function Part({ title, of, hits, hint, children }) {
  return html`<section aria-label=${title} aria-busy=${of.loading ? "true" : "false"}>
    <h2>${title}${hits?.length > 0 && html` <span class="dim">${count(hits.length)}</span>`}</h2>
    ${of.error?.status === 404 && html`<p class="empty"><${Text} value=${of.error.message} /></p>`}
    ${of.error && of.error.status !== 404 && html`<${Failed} error=${of.error} retry=${of.reload} />`}
    ${!of.data && of.loading && html`<${Loading} />`}
    ${hits && (hits.length === 0 ? html`<p class="empty">${hint ? html`<${Text} value=${hint} />` : "Nothing."}</p>` : children(hits))}
    ${of.data && html`<${Proof} of=${of.data} />`}
  </section>`;
}

/** Evidence says by which paths a command was found, and where its event is. */
function Evidence({ of: c }) {
  return html`${(c.scores ?? []).map((s) => html`<span class="pair">${s.path} #${s.rank}</span>`)} <${At} position=${c.position} />${c.exit_code > 0 && html` <a href=${href("why/" + c.id)}>why</a>`}`;
}

function Symbols({ of }) {
  return html`<ol class="rows">${of.map((s) => html`<li key=${s.repo + s.name + s.file}>
    <a data-item href=${symbolHref(s)}><code>${s.name}</code></a> <span class="tag">${s.kind}</span> <span class="dim">${s.file}${s.line ? ":" + s.line : ""}</span>
    ${s.signature && html`<div class="dim"><code><${Text} value=${s.signature} max=${300} /></code></div>`}
    ${s.doc && html`<div class="dim"><${Text} value=${s.doc} max=${200} /></div>`}</li>`)}</ol>`;
}

function Operations({ of }) {
  return html`<ol class="rows">${of.map((o) => html`<li key=${o.service + o.kind + o.operation}>
    <a data-item href=${href("runtime", { service: o.service, operation: o.operation })}><${Text} value=${o.operation} max=${200} /></a> <span class="dim"><${Text} value=${o.service} max=${100} /></span>
    <div class="dim">${plural(o.count ?? 0, "request")}${o.errors > 0 && html`, <span class="bad">${plural(o.errors, "error")}</span>`}${o.p95_ns !== undefined && html`, p95 ${duration(o.p95_ns)}`}</div></li>`)}</ol>`;
}

function Objects({ of }) {
  return html`<ol class="rows">${of.map((o) => html`<li key=${o.id}>
    <a data-item href=${href("agents/" + o.id)}><${Text} value=${o.title || o.snippet || o.id} max=${240} /></a>
    ${o.title && o.snippet && html`<div class="dim"><${Text} value=${o.snippet} max=${240} /></div>`}
    <div class="dim">${[o.type, o.memory, o.agent].filter(Boolean).map((x) => html`<span class="tag"><${Text} value=${x} max=${80} /></span> `)} <${Time} at=${o.time} /> <${At} position=${o.position} /></div></li>`)}</ol>`;
}

/** Filters restrict the commands; all are in the address. */
function Filters({ only, setOnly }) {
  return html`<form class="filters" aria-label="Filters" onSubmit=${(e) => e.preventDefault()}>
    <label>kind<select value=${only} onChange=${(e) => setOnly(e.target.value)}>
      <option value="">all</option><option value="commands">commands</option><option value="code">code</option><option value="runtime">runtime</option><option value="agents">agents</option></select></label>
    <${Exit} />
    <${Field} name="cwd" label="directory" /><${Field} name="author" label="author" /><${Field} name="session" label="session" /><${Field} name="as_of" label="as of (time)" />
  </form>`;
}

function Exit() {
  const [exit, set] = useParam("exit", "");
  return html`<label>outcome<select value=${exit} onChange=${(e) => set(e.target.value)}><option value="">any</option><option value="ok">succeeded</option><option value="fail">failed</option><option value="unknown">unknown</option></select></label>`;
}

function Field({ name, label }) {
  const [value, set] = useParam(name, "");
  return html`<label>${label}<input type="text" value=${value} size="12" onChange=${(e) => set(e.target.value.trim())} /></label>`;
}
