// code.js: what the code is: repositories and revisions, and one symbol with all that is known of it.
// Impact, the diff of a pull request, what is stale and routes have modules of their own.

import { html, useEffect, useState } from "../dom.js";
import { useAsk, useGet } from "../api.js";
import { Failed, Loading, Text, Time, count, plural } from "../format.js";
import { Announced, Answer, Brief, Field, Form, Heading, Revision, Symbol, Table, Tabs, percent, word } from "../parts.js";
import { Proof } from "../proof.js";
import { useRenewal } from "../renewal.js";
import { go, href } from "../router.js";

const parts = {
  impact: () => import("./impact.js"), diff: () => import("./codediff.js"),
  stale: () => import("./stale.js"), routes: () => import("./routes.js"),
};
const tabs = [["", "Repositories"], ["symbol", "Symbol"], ["impact", "Impact"], ["diff", "Diff"], ["stale", "Stale"], ["routes", "Routes"]];

export default function Code({ rest, query }) {
  const [loaded, set] = useState({});
  useEffect(() => {
    let here = true;
    parts[rest]?.().then((m) => here && set({ part: rest, component: m.default }), (error) => here && set({ part: rest, error }));
    return () => { here = false; };
  }, [rest]);
  // /code/NAME, as other views link it, is the symbol of that name.
  const known = rest === "" || rest === "symbol" || parts[rest];
  useEffect(() => { if (!known) go(href("code/symbol", { ...Object.fromEntries(query), name: rest }), { replace: true }); }, [rest]);
  const keep = { repo: query.get("repo"), at: query.get("at") };
  return html`<${Tabs} label="Code" base="code" at=${known ? rest : "symbol"} tabs=${tabs} keep=${keep} />
    ${rest === "" ? html`<${Repositories} query=${query} />` : rest === "symbol" ? html`<${One} query=${query} />`
      : !known ? html`<${Loading} />` : loaded.error && loaded.part === rest ? html`<${Failed} error=${loaded.error} />`
      : loaded.part === rest && loaded.component ? html`<${loaded.component} query=${query} />` : html`<${Loading} />`}`;
}

/** begin says how code gets in. */
export const begin = html`No code is imported yet. To begin: <code>recount import git PATH</code>.`;

/** Unnamed says what to name, or how code gets in if there is none. */
export function Unnamed({ children }) {
  const all = useRepositories();
  return html`<p class="empty">${all.data?.repositories.length === 0 ? begin : children}</p>`;
}

/** useRepositories lists the repositories, the one with the newest commit first. */
export function useRepositories() {
  return useGet("/v1/repositories?limit=1000");
}

function Repositories({ query }) {
  const all = useRepositories();
  useRenewal(all.reload, ["commits"], all.error ? 0 : 15);
  const repo = query.get("repo") ?? (all.data?.repositories.length === 1 ? all.data.repositories[0].repo : "");
  return html`<${Heading}>Code<//>
    <${Answer} of=${all} none=${begin} empty=${begin} isEmpty=${(d) => d.repositories.length === 0}>${(d) => html`
      <${Table} label="Repositories" rows=${d.repositories} keyOf=${(r) => r.repo} columns=${[
        { name: "repository", of: (r) => html`<a data-item href=${href("code", { repo: r.repo })} aria-current=${r.repo === repo ? "true" : undefined}>${word(r.repo)}</a>`, by: (r) => r.repo },
        { name: "newest commit", of: (r) => html`<${Brief} value=${r.newest?.subject ?? ""} max=${80} /> <span class="dim">${word(r.newest?.author ?? "", 60)} <${Time} at=${r.newest?.time} /></span>`, by: (r) => r.newest?.time ?? "" },
        { name: "commits", num: true, of: (r) => count(r.commits), by: (r) => r.commits },
        { name: "graphs", num: true, of: (r) => count(r.graphs), by: (r) => r.graphs, title: "commits that have a graph" },
        { name: "more", of: (r) => html`<a href=${href("code/stale", { repo: r.repo })}>stale</a> · <a href=${href("code/routes", { repo: r.repo })}>routes</a>` },
      ]} />`}<//>
    ${repo && html`<${Repository} repo=${repo} at=${query.get("at") ?? ""} />`}`;
}

/** Repository is one repository at a revision, and its history. */
function Repository({ repo, at }) {
  const shown = useAsk("/v1/code/snapshot-show", { repo, ...(at && { at }) });
  const log = useAsk("/v1/code/snapshot-log", { repo, limit: 50, ...(at && { at }) });
  return html`<h2>${word(repo)}</h2>
    <${Form} label="Revision"><${Field} name="at" label="revision" placeholder="HEAD" /><//>
    <div class="columns">
      <section aria-label="At the revision"><${Answer} of=${shown}>${(d) => html`
        <p><${Revision} of=${d.revision} /></p>
        <dl class="facts">
          <div><dt>files</dt><dd>${count(d.files.total)}</dd></div>
          <div><dt>symbols</dt><dd>${count(d.symbols.total)} <${By} of=${d.symbols.by} /></dd></div>
          <div><dt>edges</dt><dd>${count(d.edges.total)} <${By} of=${d.edges.by} /></dd></div>
          <div><dt>languages</dt><dd><${By} of=${read(d.files.by)} /></dd></div>
          <div><dt>not read</dt><dd>${unread(d.files.by).length === 0 ? html`<span class="dim">nothing</span>` : html`<${By} of=${Object.fromEntries(unread(d.files.by))} />`}</dd></div>
          ${d.partial?.length > 0 && html`<div><dt>in part</dt><dd>${d.partial.map((p) => html`<code><${Brief} value=${p} max=${200} /></code> `)}</dd></div>`}
          <div><dt>unresolved</dt><dd>${count(d.unresolved)} <span class="dim">names that nothing was found for</span></dd></div>
          <div><dt>snapshot</dt><dd><code>${d.revision.snapshot}</code></dd></div>
        </dl>`}<//></section>
      <section aria-label="History"><h3>History</h3><${Answer} of=${log}>${(d) => html`
        <ol class="rows">${d.snapshots.map((s, i) => html`<li key=${s.commit}>
          ${s.no_graph ? html`<code class="dim">${s.commit.slice(0, 10)}</code>` : html`<a data-item href=${href("code", { repo, at: s.commit })}><code>${s.commit.slice(0, 10)}</code></a>`} <${Brief} value=${s.subject ?? ""} max=${120} /> <span class="dim"><${Brief} value=${(s.author ?? "").replace(/ <.*/, "")} max=${60} /> <${Time} at=${s.time} /></span>
          ${!s.no_graph && s.parents?.length > 0 && d.snapshots[i + 1] && !d.snapshots[i + 1].no_graph && html` <a href=${href("code/diff", { repo, base: s.parents[0], head: s.commit })}>${plural(s.changed, "file")} changed</a>`}
          ${s.no_graph && html`<div class="dim"><${Text} value=${s.no_graph} /></div>`}</li>`)}</ol>
        ${d.truncated && html`<p class="dim">The history goes on; name an older revision.</p>`}`}<//></section>
    </div>`;
}

const skipped = /^(skipped|other$)/;
const read = (by) => Object.fromEntries(Object.entries(by).filter(([k]) => !skipped.test(k)));
const unread = (by) => Object.entries(by).filter(([k]) => skipped.test(k));

/** By lists counts by kind, the largest first. */
function By({ of }) {
  const all = Object.entries(of ?? {}).sort((a, b) => b[1] - a[1]);
  return html`<span class="by">${all.map(([k, v]) => html`<span class="pair"><span class="dim">${k}</span> ${count(v)}</span> `)}</span>`;
}

/** One is one symbol: where it is, what it says, who uses it and what it uses. */
function One({ query }) {
  const name = query.get("name") ?? "", repo = query.get("repo") ?? "", at = query.get("at") ?? "";
  const scope = { ...(repo && { repo }), ...(at && { at }) };
  const on = (more) => (name ? { symbol: name, ...scope, ...more } : null);
  const callers = useAsk("/v1/code/callers", on({ limit: 500, runtime: {} }));
  const callees = useAsk("/v1/code/callees", on({ limit: 500 }));
  const tests = useAsk("/v1/code/tests", on({ limit: 200 }));
  const owners = useAsk("/v1/code/owners", name ? { subject: name, ...scope } : null);
  const symbol = callers.data?.symbol;
  const found = useAsk("/v1/code/symbols", symbol ? { text: symbol.name, limit: 20, tests: true, ...scope } : null);
  const hit = symbol && found.data?.symbols.find((s) => s.file === symbol.file && s.line === symbol.line);
  return html`<${Heading}>${symbol ? html`<code>${word(symbol.name)}</code>` : "Symbol"}<//>
    <${Form} label="Symbol"><${Field} name="name" label="symbol, or FILE:LINE" size="32" /><${Field} name="repo" label="repository" /><${Field} name="at" label="revision" placeholder="HEAD" /><//>
    ${!name && html`<${Unnamed}>Name a symbol (<code>Client.Produce</code>) or a place (<code>pkg/client.go:123</code>), or search in the box above.<//>`}
    ${name && callers.error && html`<${Answer} of=${callers} none=${begin} />${callers.error.status === 404 && html`<${Like} name=${name} scope=${scope} at=${at} />`}`}
    ${!callers.data && callers.loading && html`<${Loading} />`}
    ${symbol && html`
      <p><span class="tag">${symbol.kind}</span> ${word(symbol.file)}:${symbol.line}${symbol.end_line ? "–" + symbol.end_line : ""} <span class="dim">${word(symbol.package ?? "")}</span>${symbol.test && html` <span class="tag">test</span>`}</p>
      ${hit?.signature && html`<pre tabindex="0"><${Text} value=${hit.signature} /></pre>`}
      ${hit?.doc && html`<p class="doc"><${Text} value=${hit.doc} max=${1200} /></p>`}
      <p class="links"><a href=${href("code/impact", { name, repo, at })}>What a change here reaches</a> <a href=${href("ask", { q: symbol.name })}>Ask for it everywhere</a></p>
      <${Announced} of=${callers.data.announced} />
      <p><${Revision} of=${callers.data.revision} /></p>
      <div class="columns">
        <section aria-label="Callers"><h2>Callers <span class="dim">${count(callers.data.total)}</span></h2>
          <${Calls} calls=${callers.data.calls} rev=${at} empty="No symbol of an imported repository calls it." />
          ${callers.data.truncated > 0 && html`<p class="dim">${count(callers.data.truncated)} more.</p>`}
          <${Observed} of=${callers.data.runtime} /><${Proof} of=${callers.data} /></section>
        <section aria-label="Callees"><h2>Callees ${callees.data && html`<span class="dim">${count(callees.data.total)}</span>`}</h2>
          <${Answer} of=${callees}>${(d) => html`<${Calls} calls=${d.calls} rev=${at} empty="No call of it in the imported repositories is known." />
            ${d.outside?.length > 0 && html`<h3>Outside the repositories</h3><ul class="rows">${d.outside.map((o) => html`<li><code>${word(o.package)}.${word(o.name)}</code> <span class="dim">${word(o.site ?? "")}</span></li>`)}</ul>`}`}<//></section>
        <section aria-label="Tests"><h2>Tests ${tests.data && html`<span class="dim">${count(tests.data.total)}</span>`}</h2>
          <${Answer} of=${tests} isEmpty=${(d) => d.total === 0} empty="No test of it is known.">${(d) => html`${d.packages.map((p) => html`<details open=${d.packages.length <= 3}><summary>${word(p.dir || ".")} <span class="dim">${count(p.tests.length)}</span></summary>
            <ul class="rows">${p.tests.map((t) => html`<li><${Symbol} of=${t} rev=${at} place=${false} /> <span class="dim">${plural(t.distance, "step")}, ${percent(t.confidence)} sure</span></li>`)}</ul></details>`)}`}<//></section>
        <section aria-label="Owners and history"><h2>Owners and history</h2>
          <${Answer} of=${owners}>${(d) => html`<${Owners} of=${d} />`}<//></section>
      </div>`}`;
}

/** Calls lists calls with every site. */
function Calls({ calls, rev, empty }) {
  if (calls.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`<ol class="rows">${calls.map((c) => html`<li key=${c.repo + c.file + c.name + (c.variant ?? "") + c.edge}>
    <${Symbol} of=${c} rev=${rev} place=${false} />
    <div class="dim sites">${c.edge === "calls" ? "" : c.edge + ", "}${c.provenance.replaceAll("_", " ")}, ${percent(c.confidence)} sure: ${(c.sites ?? [c.site].filter(Boolean)).map((s) => html`<code>${word(s)}</code> `)}${c.site_count > (c.sites?.length ?? 0) && html`and ${count(c.site_count - c.sites.length)} more places`}</div></li>`)}</ol>`;
}

/** Observed lists the services that spans show to have called a symbol. */
function Observed({ of }) {
  if (!of || of.total === 0) return null;
  return html`<h3>Seen at run time</h3><ul class="rows">${of.callers.map((c) => html`<li>${c.caller ? word(c.caller) + " → " : ""}<a href=${href("runtime", { service: c.service, operation: c.operation })}>${word(c.service)} ${word(c.operation)}</a>
    <span class="dim">${plural(c.count, "call")}, ${plural(c.errors, "error")}, last <${Time} at=${c.last} /></span></li>`)}</ul>`;
}

/** Owners says who owns a file, who changed it, and who changed the symbol. */
function Owners({ of: d }) {
  return html`<dl class="facts">
      <div><dt>file</dt><dd>${word(d.file)}</dd></div>
      <div><dt>owners</dt><dd>${d.owners.length ? d.owners.map((o) => html`<strong>${word(o)}</strong> `) : html`<span class="dim">none named by CODEOWNERS</span>`}${d.rules.map((r) => html`<span class="dim"><code>${word(r.pattern)}</code> ${word(r.place)}</span> `)}</dd></div>
    </dl>
    ${(d.symbols ?? []).map((s) => html`<h3><code>${word(s.name)}</code> <span class="dim">changed ${plural(s.changes, "time")}</span></h3><dl class="facts">
      ${s.added && html`<div><dt>added</dt><dd><${Touch} of=${s.added} /></dd></div>`}${s.last && html`<div><dt>last changed</dt><dd><${Touch} of=${s.last} /></dd></div>`}</dl>`)}
    <h3>Authors of the file <span class="dim">in ${plural(d.commits, "commit")}</span></h3>
    ${d.authors.length === 0 ? html`<p class="empty">No commit that is known changed it.</p>` : html`<ol class="rows">${d.authors.slice(0, 12).map((a) => html`<li><${Brief} value=${a.name} max=${120} /> <span class="dim">${plural(a.commits, "commit")}, last <${Time} at=${a.last} /> <code>${a.commit.slice(0, 10)}</code></span></li>`)}</ol>`}`;
}

const Touch = ({ of: t }) => html`<code>${t.commit.slice(0, 10)}</code> <${Brief} value=${t.author} max=${100} /> ${t.time && html`<span class="dim"><${Time} at=${t.time} /></span>`}`;

/** Like lists symbols with a name like one that does not exist. */
function Like({ name, scope, at }) {
  const found = useAsk("/v1/code/symbols", { text: name, limit: 20, ...scope });
  if (!found.data?.symbols.length) return null;
  return html`<h2>Symbols like it</h2><ol class="rows">${found.data.symbols.map((s) => html`<li><${Symbol} of=${s} rev=${at} /></li>`)}</ol>`;
}

