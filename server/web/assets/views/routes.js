// routes.js: the routes that the code declares, with their handlers.

import { html } from "../dom.js";
import { useAsk } from "../api.js";
import { count, plural } from "../format.js";
import { Answer, Choice, Field, Form, Heading, Revision, Symbol, Table, percent, word } from "../parts.js";
import { href } from "../router.js";
import { begin } from "./code.js";

export default function Routes({ query }) {
  const repo = query.get("repo") ?? "", at = query.get("at") ?? "", pattern = query.get("pattern") ?? "", tests = query.get("tests") === "with";
  const answer = useAsk("/v1/code/routes", { limit: 5000, ...(repo && { repo }), ...(at && { at }), ...(pattern && { pattern }), ...(tests && { tests }) });
  return html`<${Heading}>Routes<//>
    <${Form} label="Which routes"><${Field} name="pattern" label="path, or a request" size="24" placeholder="POST /orders" /><${Field} name="repo" label="repository" /><${Field} name="at" label="revision" placeholder="HEAD" /><${Choice} name="tests" label="of tests" options=${[["", "leave out"], ["with", "show"]]} /><//>
    <${Answer} of=${answer} none=${begin} isEmpty=${(d) => d.total === 0} empty="No route is known here.">${(d) => html`<p>${plural(d.total, "route")} <a href=${href("runtime/dead", { repo })}>which are never called?</a></p><p><${Revision} of=${d.revision} /></p>
      <${Table} label="Routes" sort="by" rows=${d.routes} keyOf=${(r) => r.method + r.path + r.file + r.line} columns=${[
        { name: "method", of: (r) => html`<code>${word(r.method || "any")}</code>`, by: (r) => r.method },
        { name: "path", of: (r) => html`<a href=${href("runtime", { operation: r.path })} title="what spans show of it"><code>${word(r.path)}</code></a>`, by: (r) => r.path },
        { name: "handler", of: (r) => (r.handlers.length === 0 ? html`<span class="dim">not found</span>` : r.handlers.map((h) => html`<div><${Symbol} of=${h} rev=${at} /> <span class="dim">${percent(h.confidence)} sure</span></div>`)) },
        { name: "declared", of: (r) => html`<span class="dim">${word(r.file)}${r.line ? ":" + r.line : ""}</span>`, by: (r) => r.file },
        { name: "framework", of: (r) => html`<span class="dim">${word(r.framework ?? "")}</span>`, by: (r) => r.framework ?? "" },
      ]} />${d.truncated > 0 && html`<p class="dim">${count(d.truncated)} more.</p>`}`}<//>`;
}
