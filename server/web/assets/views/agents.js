// agents.js: what agents did, found out and decided: their sessions, what holds and what was
// replaced or contradicted, and one object with its evidence.

import { html, useMemo, useState } from "../dom.js";
import { useAsk, useGet } from "../api.js";
import { Failed, Text, Time, count, plural } from "../format.js";
import { useLines } from "../ndjson.js";
import { Answer, Brief, Choice, Field, Form, Heading, Table, Tabs, percent, word } from "../parts.js";
import { At } from "../proof.js";
import { useRenewal } from "../renewal.js";
import { href, useParam } from "../router.js";

const tabs = [["", "Found out and decided"], ["sessions", "Sessions"], ["search", "Search"]];

export default function Agents({ rest, query }) {
  const keep = Object.fromEntries(["agent", "workspace"].map((k) => [k, query.get(k)]));
  const part = tabs.some(([p]) => p === rest) ? rest : "object";
  return html`<${Tabs} label="Agents" base="agents" at=${rest} tabs=${tabs} keep=${keep} />
    ${part === "" ? html`<${Remembered} query=${query} />` : part === "search" ? html`<${Search} query=${query} />`
      : part === "object" ? html`<${One} id=${rest} query=${query} />`
      : query.get("session") ? html`<${Session} query=${query} />` : html`<${Sessions} query=${query} />`}`;
}

const begin = html`No agent is recorded yet. To begin: <code>recount hook claude-code --install</code> (or <code>codex</code>, <code>gemini</code>), or <code>recount import agents</code>.`;
const scopeOf = (query, names = ["agent", "workspace", "session"]) => Object.fromEntries(names.map((n) => [n, query.get(n)]).filter(([, v]) => v));

function Scope({ children }) {
  return html`<${Form} label="Filters"><${Field} name="agent" label="agent" /><${Field} name="workspace" label="workspace" size="24" /><${Field} name="session" label="session" />${children}<//>`;
}

const kinds = ["decision", "fact", "note", "plan", "task", "handover"];

/** Remembered lists what agents decided, found out and plan, and what became of it. */
function Remembered({ query }) {
  const kind = query.get("kind") ?? "", status = query.get("status") ?? "", about = query.get("about") ?? "", asOf = query.get("as_of") ?? "";
  const answer = useAsk("/v1/remembered", { limit: 500, all: status !== "open", ...scopeOf(query), ...(kind && { kinds: [kind] }), ...(about && { about: [about] }), ...(asOf && { as_of: asOf }) });
  const live = useRenewal(answer.reload, ["agents"], asOf || answer.error ? 0 : 15);
  const announced = useAsk("/v1/announced", { limit: 50, ...scopeOf(query), ...(asOf && { as_of: asOf }) });
  const wanted = (x) => status === "" || status === "open" || (status === "contradicted" ? x.contradicted?.length > 0 : x.status === status);
  return html`<${Heading}>Agents<//>
    <${Scope}><${Choice} name="kind" label="kind" options=${[["", "all"], ...kinds.map((k) => [k, k])]} />
      <${Choice} name="status" label="which" options=${[["", "all"], ["open", "what holds"], ["superseded", "superseded"], ["contradicted", "contradicted"], ["done", "done"], ["expired", "expired"]]} />
      <${Field} name="about" label="about" placeholder="file:PATH" /><${Field} name="as_of" label="as of (time)" size="20" /><//>
    ${announced.data?.announcements.length > 0 && html`<h2>Under way</h2><ul class="rows">${announced.data.announcements.map((a) => html`<li><strong>${word(a.agent ?? "")}</strong> <code>${word(a.subject)}</code> <${Brief} value=${a.why ?? ""} max=${200} /> <span class="dim">since <${Time} at=${a.since} />, until <${Time} at=${a.until} absolute /></span> <${At} position=${a.position} /></li>`)}</ul>`}
    <h2>Found out and decided ${live && html`<span class="dim live">live</span>`}</h2>
    <${Answer} of=${answer} isEmpty=${(d) => d.items.length === 0} empty=${begin}>${(d) => {
      const items = d.items.filter(wanted), names = new Map(d.items.map((x) => [x.id, x.title || x.text]));
      return html`<p class="dim">${plural(items.length, "entry", "entries")}${d.truncated && ", and more"}</p>
        <ol class="rows entries">${items.map((x) => html`<li key=${x.event_id}><${Entry} of=${x} names=${names} /></li>`)}</ol>`;
    }}<//>`;
}

const stand = { open: "", done: "good", superseded: "dim", expired: "dim" };

/** tone is how the standing of an entry looks: what is done may have failed. */
const tone = (x) => (x.status === "done" && /^(failed|error|partial|aborted|cancelled|timed out)/i.test(x.outcome ?? "") ? "bad" : stand[x.status] ?? "dim");

/** Entry is one statement, with what replaced or contradicts it. */
function Entry({ of: x, names }) {
  const rest = x.title && x.text.startsWith(x.title) ? x.text.slice(x.title.length).trim() : x.text;
  return html`<div><span class="tag">${x.kind}</span> <a data-item class=${x.status === "superseded" ? "gone" : ""} href=${href("agents/" + x.id)}><${Brief} value=${x.title || x.text} max=${240} /></a>
      <span class=${tone(x)}>${x.status === "open" ? "" : " " + x.status}</span></div>
    ${rest && x.title && html`<div class="dim said"><${Text} value=${rest} max=${500} /></div>`}
    ${x.superseded_by && html`<div>replaced by <${Linked} of=${x.superseded_by} names=${names} /></div>`}
    ${(x.contradicted ?? []).map((c) => html`<div class="warn">contradicted by <${Linked} of=${c} /></div>`)}
    ${x.outcome && !x.title?.endsWith(": " + x.outcome) && html`<div>outcome: <${Brief} value=${x.outcome} max=${200} /></div>`}
    ${x.steps?.length > 0 && html`<ul class="plan">${x.steps.map((s) => html`<li><span class=${s.status === "completed" || s.status === "done" ? "good" : "dim"}>${s.status ?? "·"}</span> <${Text} value=${s.text} max=${300} /></li>`)}</ul>`}
    <div class="dim">${[x.agent, x.workspace].filter(Boolean).map((v) => html`<span class="tag"><${Brief} value=${v} max=${80} /></span> `)}${x.session && html`<a href=${href("agents/sessions", { session: x.session, agent: x.agent, workspace: x.workspace })}>session <${Brief} value=${x.session} max=${40} /></a> `}
      <${Time} at=${x.time} /> <${At} position=${x.position} />${(x.about ?? []).map((a) => html` <code>${word(a)}</code>`)}</div>`;
}

/** Linked is an object that replaced or contradicts another, and how that is known. */
function Linked({ of: l, names }) {
  return html`${l.id ? html`<a href=${href("agents/" + l.id)}><${Brief} value=${l.value || names?.get(l.id) || (l.rule === "version" ? "its newer version" : "another, " + l.id.slice(0, 13))} max=${160} /></a>` : html`<${Brief} value=${l.value ?? ""} max=${160} />`} <span class="dim">${l.agent && html`by ${word(l.agent)}, `}${word(l.rule.replaceAll("_", " "))}, ${percent(l.confidence)} sure${l.time && html`, <${Time} at=${l.time} />`} ${(l.evidence ?? []).map((p) => html`<${At} position=${p} /> `)}</span>`;
}

/** Sessions lists the sessions, the newest first, page by page. */
function Sessions({ query }) {
  const [after, setAfter] = useParam("after", "");
  const params = new URLSearchParams({ kind: "agents", ...Object.fromEntries(["workspace", "since", "until"].map((n) => [n, query.get(n)]).filter(([, v]) => v)), ...(query.get("agent") && { author: query.get("agent") }), ...(after && { after }) });
  const answer = useGet("/v1/sessions?" + params);
  const live = useRenewal(answer.reload, ["agents", "commands"], after || answer.error ? 0 : 15);
  const open = (s) => href("agents/sessions", { session: s.session, agent: s.author, workspace: s.workspace });
  return html`<${Heading} live=${live}>Sessions of agents<//>
    <${Form} label="Filters"><${Field} name="agent" label="agent" /><${Field} name="workspace" label="workspace" size="24" /><${Field} name="since" label="since (time)" size="20" /><${Field} name="until" label="until (time)" size="20" /><//>
    <${Answer} of=${answer} isEmpty=${(d) => d.sessions.length === 0} empty=${begin}>${(d) => html`<p class="dim">${plural(d.total, "session")}</p>
      <${Table} label="Sessions" sort="by" rows=${d.sessions} keyOf=${(s) => s.tenant + "\n" + s.author + "\n" + s.session} columns=${[
        { name: "about", of: (s) => html`<a data-item href=${open(s)}><${Brief} value=${s.about || s.session} max=${140} /></a>`, by: (s) => s.about ?? "" },
        { name: "agent", of: (s) => html`<${Brief} value=${s.author} max=${40} />`, by: (s) => s.author ?? "" }, { name: "workspace", of: (s) => html`<${Brief} value=${s.workspace} max=${60} />`, by: (s) => s.workspace ?? "" },
        { name: "session", of: (s) => html`<span class="dim"><${Brief} value=${s.session} max=${24} /></span>`, by: (s) => s.session },
        { name: "steps", num: true, of: (s) => count(s.objects ?? 0), by: (s) => s.objects ?? 0 },
        { name: "last", of: (s) => html`<${Time} at=${s.last} />`, by: (s) => s.last },
      ]} />
      <p class="links">${after && html`<button type="button" class="quiet" onClick=${() => setAfter("")}>newest</button>`}${d.next && html`<button type="button" onClick=${() => setAfter(d.next)}>${count(d.truncated)} older</button>`}</p>`}<//>`;
}

/** Session is one session, step by step: a result stands with its call. */
function Session({ query }) {
  const scope = scopeOf(query);
  const [only, setOnly] = useParam("only", "");
  const [most, more] = useState(200);
  const { value, error, done } = useLines("/v1/objects?" + new URLSearchParams(scope), () => ({ all: [], lines: 0 }), (v, o) => { v.lines++; v.all.push(o); });
  const held = useAsk("/v1/remembered", { ...scope, all: true, limit: 100 });
  const steps = useMemo(() => value.all.map((o, i) => [o, i]).sort(([a, i], [b, j]) => (a.time < b.time ? -1 : a.time > b.time ? 1 : i - j)).map(([o]) => o), [value, value.lines]);
  const filters = { said: (o) => /message|plan|critique|handoff|task/.test(o.event_type), failed: (o) => o.failed || o.exit_code > 0, tools: (o) => /tool/.test(o.event_type) };
  const shown = only ? steps.filter(filters[only] ?? (() => true)) : steps;
  const failed = steps.filter(filters.failed).length;
  return html`<${Heading}>Session <${Brief} value=${query.get("session")} max=${80} /><//>
    <p>${[scope.agent, scope.workspace].filter(Boolean).map((v) => html`<span class="tag"><${Brief} value=${v} max=${80} /></span> `)} ${plural(steps.length, "step")}${!done && "…"}${failed > 0 && html`, <span class="bad">${count(failed)} failed</span>`}${steps.length > 0 && html`, <${Time} at=${steps[0].time} absolute /> to <${Time} at=${steps.at(-1).time} absolute />`} <a href=${href("narrative", { session: scope.session })}>as a narrative</a></p>
    ${error && html`<${Failed} error=${error} />`}
    ${done && !error && steps.length === 0 && html`<p class="empty">No session of this name.</p>`}
    ${held.data?.items.length > 0 && html`<details open><summary>Found out and decided here <span class="dim">${count(held.data.items.length)}</span></summary><ol class="rows entries">${held.data.items.map((x) => html`<li key=${x.event_id}><${Entry} of=${x} /></li>`)}</ol></details>`}
    <p class="links" role="group" aria-label="Which steps">${[["", "all"], ["said", "said and planned"], ["tools", "tools"], ["failed", "failed"]].map(([k, n]) => html`<button type="button" class="quiet" aria-pressed=${only === k ? "true" : "false"} onClick=${() => setOnly(k)}>${n}</button>`)}</p>
    <ol class="rows steps">${shown.slice(0, most).map((o) => html`<li key=${o.event_id} class=${"by-" + (o.event_type === "user_message" ? "person" : "agent")}><${Step} of=${o} /></li>`)}</ol>
    ${shown.length > most && html`<p><button type="button" onClick=${() => more(most + 1000)}>Show ${count(Math.min(1000, shown.length - most))} more of ${count(shown.length)}</button></p>`}`;
}

const verbs = { user_message: "person", assistant_message: "said", tool_call_issued: "calls", tool_result_returned: "result", plan_updated: "plan", critique_generated: "critique", task_started: "task", task_finished: "end", artifact_produced: "made", state_changed: "state", memory_stated: "noted", handoff_occurred: "handed over" };

/** withoutTool is a title without the name of its tool, which stands beside it. */
export function withoutTool(title, tool) {
  if (!tool) return title;
  if (title === tool) return "";
  for (const begin of [tool + ": ", tool + " " + tool + " ", tool + " "]) if (title.startsWith(begin)) return title.slice(begin.length);
  return title;
}

function Step({ of: o }) {
  const body = o.command || o.text || "", title = withoutTool(o.title ?? "", o.tool);
  const long = body.length > 240 || body.includes("\n");
  return html`<div class="step"><span class="dim what">${verbs[o.event_type] ?? o.event_type}</span><div>
      ${o.tool && html`<span class="tag">${word(o.tool)}</span> `}${(o.failed || o.exit_code > 0) && html`<span class="bad">failed${o.exit_code > 0 ? " " + o.exit_code : ""}</span> `}
      ${long ? html`<details><summary><${Brief} value=${title || body} max=${200} /></summary><pre tabindex="0"><${Text} value=${body} max=${4000} /></pre></details>` : html`${body || title ? html`<${Text} value=${body || title} />` : html`<span class="dim">nothing</span>`}`}
    </div><span class="dim at-end"><a href=${href("agents/" + o.id)} title="this object and its evidence"><${Time} at=${o.time} /></a> <${At} position=${o.position} /></span></div>`;
}

/** Search asks what agents said and did. */
function Search({ query }) {
  const q = query.get("q") ?? "", asOf = query.get("as_of") ?? "";
  const answer = useAsk("/v1/query", { text: q, limit: 60, mode: "objects", scope: scopeOf(query), include: ["proof"], ...(asOf && { as_of: asOf }), ...(query.get("type") && { types: [query.get("type")] }) });
  return html`<${Heading}>Search what agents said and did<//>
    <${Form} label="Search"><${Field} name="q" label="text" size="36" /><${Field} name="agent" label="agent" /><${Field} name="workspace" label="workspace" /><${Field} name="session" label="session" />
      <${Choice} name="type" label="type" options=${[["", "all"], ...["memory", "state", "artifact", "tool_call", "task", "handoff", "announcement"].map((t) => [t, t])]} /><${Field} name="as_of" label="as of (time)" size="20" /><//>
    <${Answer} of=${answer} isEmpty=${(d) => d.objects.length === 0} empty=${q ? "Nothing matches." : begin}>${(d) => html`<ol class="rows">${d.objects.map((o) => html`<li key=${o.id}><${Found} of=${o} /></li>`)}</ol>`}<//>`;
}

/** longest is the title of an object, or the snippet that begins with it. */
const longest = (o) => (o.title && !(o.snippet ?? "").startsWith(o.title) ? o.title : o.snippet || o.text || o.id);

/** Found is one object in a list. */
function Found({ of: o }) {
  return html`<a data-item class=${o.superseded_by ? "gone" : ""} href=${href("agents/" + o.id)}><${Brief} value=${longest(o)} max=${400} /></a>
    ${o.failed && html` <span class="bad">failed</span>`}
    ${o.superseded_by && html`<div>replaced by <${Linked} of=${o.superseded_by} /></div>`}${(o.contradicted ?? []).map((c) => html`<div class="warn">contradicted by <${Linked} of=${c} /></div>`)}
    ${o.snippet && o.title && !o.snippet.startsWith(o.title) && html`<div class="dim"><${Text} value=${o.snippet} max=${700} /></div>`}
    <div class="dim">${[o.type, o.memory, o.agent, o.workspace].filter(Boolean).map((x) => html`<span class="tag"><${Brief} value=${x} max=${60} /></span> `)}${o.session && html`<a href=${href("agents/sessions", { session: o.session, agent: o.agent, workspace: o.workspace })}>session</a> `}<${Time} at=${o.time} /> <${At} position=${o.position} /></div>`;
}

/** One is an object: its text, standing, versions, and what led to it. */
function One({ id, query }) {
  const asOf = query.get("as_of") ?? "";
  const answer = useAsk("/v1/query", { text: id, limit: 1, mode: "evidence", include: ["text", "versions", "provenance", "proof"], ...(asOf && { as_of: asOf }) });
  return html`<${Answer} of=${answer} isEmpty=${(d) => !d.objects.some((o) => o.id === id || o.event_id === id)} empty=${html`No object <code>${word(id)}</code> that you may see.`}>${(d) => {
    const o = d.objects.find((x) => x.id === id || x.event_id === id);
    const around = d.objects.filter((x) => x !== o), names = new Map(d.objects.map((x) => [x.id, x]));
    const name = (ref) => { const x = names.get(ref); return x ? html`<a href=${href("agents/" + x.id)}><${Brief} value=${x.title || x.snippet || x.id} max=${120} /></a>` : html`<code>${word(ref)}</code>`; };
    return html`<${Heading}><${Brief} value=${o.title || o.snippet || o.text || o.id} max=${200} /><//>
      ${o.superseded_by && html`<p class="failed">Replaced by <${Linked} of=${o.superseded_by} /></p>`}${(o.contradicted ?? []).map((c) => html`<p class="failed">Contradicted by <${Linked} of=${c} /></p>`)}
      <dl class="facts">
        <div><dt>what</dt><dd>${[o.type, o.memory].filter(Boolean).map((x) => html`<span class="tag">${x}</span> `)}${o.removed && html`<span class="warn">removed</span>`}</dd></div>
        <div><dt>by</dt><dd><${Brief} value=${o.agent ?? ""} max=${100} /> ${o.session && html`in <a href=${href("agents/sessions", { session: o.session, agent: o.agent, workspace: o.workspace })}>session <${Brief} value=${o.session} max=${60} /></a>`} <span class="dim"><${Brief} value=${o.workspace ?? ""} max=${100} /></span></dd></div>
        <div><dt>when</dt><dd><${Time} at=${o.time} absolute /> <${At} position=${o.position} /></dd></div>
        ${o.claim && html`<div><dt>states</dt><dd><${Brief} value=${o.claim.subject} max=${120} /> <span class="dim">${word(o.claim.predicate)}</span> <strong><${Brief} value=${o.claim.value} max=${200} /></strong></dd></div>`}
        ${o.support && html`<div><dt>support</dt><dd>${plural(o.support.count, "event")}${o.support.agents > 1 && html` of ${count(o.support.agents)} agents`} ${(o.support.positions ?? []).slice(0, 20).map((p) => html`<${At} position=${p} /> `)}</dd></div>`}
        ${o.chain && html`<div><dt>rests on</dt><dd>${plural(o.chain.length, "step")} back${o.chain.complete ? "" : ", not complete"}${(o.chain.roots ?? []).map((r) => html` ${name(r)}`)}</dd></div>`}
      </dl>
      ${(o.text || o.snippet) && html`<pre tabindex="0"><${Text} value=${o.text || o.snippet} max=${8000} /></pre>`}
      ${(o.results ?? []).map((r) => html`<h3>${r.failed ? html`<span class="bad">Failed${r.exit_code ? " " + r.exit_code : ""}</span>` : "Result"} <${At} position=${r.position} /></h3><pre tabindex="0"><${Text} value=${r.snippet ?? ""} lines=${30} max=${4000} /></pre>`)}
      <div class="columns">
        ${d.edges.length > 0 && html`<section aria-label="Edges"><h2>Edges</h2><ul class="rows">${d.edges.slice(0, 100).map((e) => html`<li>${name(e.from)} <span class="dim">${e.kind.replaceAll("_", " ")}</span> ${name(e.to)} <span class="dim">${word(e.rule)}, ${percent(e.confidence)} sure</span> ${(e.evidence ?? []).map((p) => html`<${At} position=${p} /> `)}</li>`)}</ul></section>`}
        ${d.versions.length > 1 && html`<section aria-label="Versions"><h2>Versions</h2><ol class="rows">${d.versions.filter((v) => v.object === o.id).map((v) => html`<li>${v.number}. <${Brief} value=${v.title ?? ""} max=${160} /> ${v.removed && html`<span class="warn">removed</span>`} <span class="dim"><${Time} at=${v.time} /></span> <${At} position=${v.position} /></li>`)}</ol></section>`}
        ${around.length > 0 && html`<section aria-label="What led to it"><h2>What led to it</h2><ol class="rows">${around.slice(0, 60).map((x) => html`<li key=${x.id}><${Found} of=${x} /></li>`)}</ol></section>`}
      </div>`;
  }}<//>`;
}
