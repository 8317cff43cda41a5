// command.js: one command: how it ended, the end of its output, what came before and after it in its
// session, how replays of it went, and where to go from there.

import { html, useEffect } from "../dom.js";
import { useAsk, useGet } from "../api.js";
import { CommandList, Outcome, who } from "../commands.js";
import { Failed, Loading, Text, Time, duration, plain, plural, when } from "../format.js";
import { useKey } from "../keys.js";
import { At, Proof } from "../proof.js";
import { go, href } from "../router.js";

const around = 6; // commands of the session before and after it

export default function Command({ rest, query }) {
  const asOf = query.get("as_of") ?? "";
  const { data: c, error, reload } = useGet(rest ? "/v1/intents/" + encodeURIComponent(rest) : null);
  useEffect(() => { if (c) document.title = plain(c.command).slice(0, 80) + " · Recount"; }, [c]);
  if (!rest) return html`<h1>Command</h1><p class="empty">No command is named: <a href="/ask">find one</a>.</p>`;
  if (error) return html`<h1>Command</h1><${Failed} error=${error} retry=${reload} />`;
  if (!c) return html`<h1>Command</h1><${Loading} />`;
  return html`<${Shown} c=${c} asOf=${asOf} />`;
}

function Shown({ c, asOf }) {
  const moment = { as_of: asOf };
  useKey("w", "why it ended so", () => go(href("why/" + c.id, moment)));
  useKey("n", "its narrative", () => go(href("narrative", { id: c.id, ...moment })));
  return html`<h1 class="sr">Command</h1>
    <pre class="command"><${Text} value=${c.command} max=${4000} /></pre>
    <p class="ended"><${Outcome} of=${c} /> ${c.exit_code === undefined ? "The outcome is not known" : c.exit_code === 0 ? "succeeded" : html`${c.exit_code === 130 ? "interrupted (ctrl-C), exit code" : "failed with exit code"} ${c.exit_code}`}${c.duration_ns !== undefined && html` in ${duration(c.duration_ns)}`}${c.time_unknown ? " at an unknown time" : html`, <span><${Time} at=${c.time} />,</span> <span class="dim">${when(c.time)}</span>`}</p>
    <div class="links">
      <a href=${href("why/" + c.id, moment)}>${c.exit_code ? "Why it failed" : "What led to it"}</a>
      <a href=${href("narrative", { id: c.id, ...moment })}>Narrative</a>
      ${c.session && html`<a href=${href("narrative", { session: c.session })}>Session</a>`}
      <a href=${href("ask", { q: c.template || c.command.slice(0, 200), kind: "commands" })}>Commands like it</a>
      <${At} position=${c.position}>Event<//>
      ${c.outcome_position && html`<${At} position=${c.outcome_position}>Event of the outcome<//>`}
    </div>
    <div class="columns">
      <section aria-label="Output">
        <h2>Output</h2>
        ${c.output_tail ? html`<pre tabindex="0"><${Text} value=${c.output_tail} lines=${40} max=${6000} /></pre>` : html`<p class="empty">No output was recorded.</p>`}
        ${c.replays?.length > 0 && html`<h2>Replays</h2><ol class="rows">${c.replays.map((r) => html`<li key=${r.run + r.step}><${Outcome} of=${r} /> run <code>${plain(r.run)}</code> ${r.state} ${r.started && html`<span class="dim"><${Time} at=${r.started} /></span>`} <${At} position=${r.position} /></li>`)}</ol>`}
      </section>
      <section aria-label="Where and who">
        <h2>Where and who</h2>
        <${Facts} c=${c} />
      </section>
    </div>
    ${c.session && html`<${Neighbours} c=${c} moment=${moment} />`}
    <${Proof} of=${c} />`;
}

function Facts({ c }) {
  const rows = [["directory", c.cwd], ["author", who(c)], ["user", c.author ? c.user : ""], ["host", c.host], ["session", c.session], ["shell", c.shell], ["workspace", c.workspace === c.cwd ? "" : c.workspace],
    ["intent", c.stated_intent], ["git head", c.git_head], ["category", c.category], ["template", c.template === c.command ? "" : c.template], ["id", c.id]];
  const of = (access) => (c.resources ?? []).filter((r) => (r.access ?? "").startsWith(access) || r.access === "read_write");
  return html`<dl class="facts">
    ${rows.filter(([, v]) => v).map(([k, v]) => html`<div><dt>${k}</dt><dd><${Text} value=${v} max=${400} /></dd></div>`)}
    ${[["reads", of("read")], ["writes", of("write")]].filter(([, list]) => list.length > 0).map(([k, list]) => html`<div><dt>${k}</dt><dd>${list.slice(0, 30).map((r) => html`<div><span class="tag">${r.kind}</span> <a href=${href("ask", { q: r.name })}><${Text} value=${r.name} max=${160} /></a></div>`)}</dd></div>`)}
    ${c.changes && html`<div><dt>changed</dt><dd>${c.changes.files.length === 0 ? html`nothing below <code><${Text} value=${c.changes.below} max=${160} /></code>` : c.changes.files.slice(0, 10).map((f) => html`<div><span class="tag">${f.change}</span> <${Text} value=${f.path} max=${160} /></div>`)}${c.changes.files.length > 10 && html`<span class="dim">${plural(c.changes.files.length - 10, "more file")}</span>`}</dd></div>`}
    ${c.parent_id && html`<div><dt>led to by</dt><dd><a href=${href("command/" + c.parent_id)}>${c.parent_id}</a></dd></div>`}
  </dl>`;
}

/** Neighbours are the commands of the session around one. */
function Neighbours({ c, moment }) {
  const own = useGet("/session").data; // a token of some workspaces asks about one of them
  const some = own?.login && !own.operator && !(own.workspaces ?? []).includes("*");
  const filters = { session: c.session, ...(c.host && { host: c.host }), ...(some && { workspace: c.workspace }) };
  const just = new Date(new Date(c.time).getTime() + 1).toISOString();
  const later = new Date(new Date(c.time).getTime() + 6 * 3600e3).toISOString();
  const before = useAsk("/v1/find", { filters: { ...filters, until: just }, repeats: true, limit: around + 1 });
  const after = useAsk("/v1/find", { filters: { ...filters, since: c.time, until: later }, repeats: true, limit: 500 });
  if (before.error) return html`<h2>Session</h2><${Failed} error=${before.error} retry=${before.reload} />`;
  if (!before.data || !after.data) return html`<h2>Session</h2><${Loading} />`;
  const rest = after.data.hits.filter((x) => x.id !== c.id && x.time >= c.time).reverse();
  const seen = new Set([c.id, ...rest.map((x) => x.id)]);
  const list = [...before.data.hits.filter((x) => !seen.has(x.id)).reverse(), c, ...rest.slice(0, around)];
  return html`<section aria-labelledby="session"><h2 id="session">Before and after in its session</h2>
    <${CommandList} commands=${list} label="The session around it" current=${c.id} params=${moment} />
    ${rest.length > around && html`<p class="dim">${plural(rest.length - around, "more command")} in the six hours after; <a href=${href("narrative", { session: c.session })}>the whole session</a>.</p>`}</section>`;
}
