// codediff.js: how the graph differs between two revisions, as the diff of a pull request: symbols,
// edges, dependencies, uses elsewhere, owners, and what the change reaches before and after.

import { html } from "../dom.js";
import { useAsk } from "../api.js";
import { Text, count, plural } from "../format.js";
import { Answer, Choice, Field, Form, Heading, Revision, Symbol, Table, word } from "../parts.js";
import { href, useParam } from "../router.js";
import { Unnamed, begin } from "./code.js";

const named = { removed: "removed", signature: "signature changed", body: "body changed", renamed: "renamed", moved: "moved", added: "added" };
const tone = { removed: "bad", added: "good", signature: "warn", renamed: "warn" };

export default function CodeDiff({ query }) {
  const base = query.get("base") ?? "", head = query.get("head") ?? "", repo = query.get("repo") ?? "";
  const [only, setOnly] = useParam("change", "");
  const [reach] = useParam("reach", "");
  const answer = useAsk("/v1/code/diff", base || head ? { diff: base + ".." + head, limit: 2000, ...(reach !== "no" && { impact: true }), ...(repo && { repo }) } : null);
  return html`<${Heading}>Diff${(base || head) && html` <code>${word(base || "HEAD")}..${word(head || "HEAD")}</code>`}<//>
    <${Form} label="Revisions"><${Field} name="base" label="from" placeholder="main~3" /><${Field} name="head" label="to" placeholder="main" /><${Field} name="repo" label="repository" />
      <${Choice} name="reach" label="impact" options=${[["", "before and after"], ["no", "leave out"]]} /><//>
    ${!base && !head && html`<${Unnamed}>Name two revisions: branches, tags, commits, or <code>HEAD~3</code>.<//>`}
    <${Answer} of=${answer} none=${begin}>${(d) => html`
      <p><${Revision} of=${d.base} /></p><p><${Revision} of=${d.revision} /></p>
      <p class="links">${Object.entries(named).map(([k, n]) => html`<button type="button" class=${"quiet " + (tone[k] ?? "")} aria-pressed=${only === k ? "true" : "false"} disabled=${!d.counts[k]} onClick=${() => setOnly(only === k ? "" : k)}>${count(d.counts[k] ?? 0)} ${n}</button>`)}
        <span class="dim">${plural(d.counts.files ?? 0, "file")}</span></p>
      ${d.impact && html`<${Delta} of=${d.impact} diff=${base + ".." + head} repo=${repo} />`}
      <h2>Symbols <span class="dim">${count(d.symbols.length)}</span></h2>
      <${Table} label="Changed symbols" rows=${d.symbols.filter((s) => !only || s.change === only)} keyOf=${(s) => s.change + s.file + s.name + (s.variant ?? "")} columns=${[
        { name: "change", of: (s) => html`<span class=${tone[s.change] ?? "dim"}>${named[s.change]}</span>`, by: (s) => Object.keys(named).indexOf(s.change) },
        { name: "symbol", of: (s) => html`<${Symbol} of=${s} rev=${s.change === "removed" ? d.base.commit : d.revision.commit} />${s.before?.name && html`<div class="dim">before: <code>${word(s.before.name)}</code></div>`}${s.before?.file && s.before.file !== s.file && html`<div class="dim">from ${word(s.before.file)}</div>`}`, by: (s) => s.name },
        { name: "signature", of: (s) => html`<${Signature} of=${s} />` },
      ]} />
      ${d.elsewhere.length > 0 && html`<h2>Uses in other repositories <span class="dim">${count(d.elsewhere.length)}</span></h2>
        <${Table} label="Uses elsewhere" rows=${d.elsewhere} columns=${[
          { name: "what", of: (u) => html`<code>${word(u.of)}</code> <span class=${tone[u.change]}>${named[u.change]}</span>` },
          { name: "used by", of: (u) => html`<${Symbol} of=${u.symbol} />`, by: (u) => u.symbol.repo }, { name: "site", of: (u) => html`<code>${word(u.site)}</code>` }]} />`}
      <div class="columns">
        <section aria-label="Edges"><h2>Edges <span class="dim">${count(d.edges.length)}</span></h2>${d.edges.length === 0 ? html`<p class="empty">No edge differs.</p>` : html`<${Table} label="Changed edges" rows=${d.edges} columns=${[
          { name: "way", of: (e) => html`<span class=${tone[e.change]}>${e.change === "added" ? "+" : "−"}<span class="sr">${e.change}</span></span>`, by: (e) => e.change },
          { name: "from", of: (e) => html`<code>${word(e.from)}</code>`, by: (e) => e.from }, { name: "edge", of: (e) => html`<span class="dim">${e.edge}</span>`, by: (e) => e.edge },
          { name: "to", of: (e) => html`<code>${word(e.to)}</code>${e.outside && html` <span class="tag">outside</span>`}`, by: (e) => e.to }]} />`}</section>
        <section aria-label="Owners and dependencies"><h2>Owners</h2>
          ${d.owners.length === 0 ? html`<p class="empty">No file differs.</p>` : html`<ul class="rows">${d.owners.map((o) => html`<li><strong>${word(o.owner || "nobody")}</strong> ${plural(o.count, "file")}<div class="dim">${o.files.map((f) => html`${word(f)} `)}${o.count > o.files.length && "…"}</div></li>`)}</ul>`}
          ${d.dependencies.length > 0 && html`<h2>Dependencies</h2><ul class="rows">${d.dependencies.map((x) => html`<li><span class=${tone[x.change]}>${x.change}</span> <code>${word(x.package)}</code> <span class="dim">${word(x.site)}</span></li>`)}</ul>`}
        </section></div>`}<//>`;
}

/** Signature shows how a signature differs: what went and what came, where it differs. */
function Signature({ of: s }) {
  if (s.difference) return html`<div><del class="bad"><code><${Text} value=${s.difference.before} max=${400} /></code></del></div><div><ins class="good"><code><${Text} value=${s.difference.after} max=${400} /></code></ins></div>`;
  return s.signature ? html`<code class="dim"><${Text} value=${s.signature} max=${300} /></code>` : null;
}

/** Delta is what the change reaches, before and after. */
function Delta({ of: d, diff, repo }) {
  const row = (name, f) => html`<tr><th scope="row">${name}</th><td class="num">${count(f(d.before))}</td><td class="num">${count(f(d.after))}</td><td class=${"num " + (f(d.after) > f(d.before) ? "warn" : "")}>${f(d.after) === f(d.before) ? "–" : (f(d.after) > f(d.before) ? "+" : "−") + count(Math.abs(f(d.after) - f(d.before)))}</td></tr>`;
  return html`<h2>Impact</h2><div class="columns"><section aria-label="Reach"><table class="narrow"><thead><tr><th scope="col"><span class="sr">what</span></th><th scope="col" class="num">before</th><th scope="col" class="num">after</th><th scope="col" class="num">difference</th></tr></thead>
    <tbody>${row("symbols", (r) => r.symbols)}${row("packages", (r) => r.packages)}${row("repositories", (r) => r.repositories)}${row("tests", (r) => r.tests)}</tbody></table>
    <p><a href=${href("code/impact", { diff, repo })}>As a graph</a></p></section>
    <section aria-label="By symbol"><${Table} label="Impact by symbol" rows=${d.symbols} columns=${[
      { name: "symbol", of: (s) => html`<${Symbol} of=${s} place=${false} />`, by: (s) => s.name }, { name: "before", num: true, of: (s) => count(s.before), by: (s) => s.before }, { name: "after", num: true, of: (s) => count(s.after), by: (s) => s.after }]} /></section></div>
    ${d.untested.length > 0 && html`<details><summary class="warn">${plural(d.untested.length, "changed symbol")} that no test reaches</summary><ul class="rows">${d.untested.map((s) => html`<li><${Symbol} of=${s} /></li>`)}</ul></details>`}`;
}

