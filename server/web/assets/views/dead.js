// dead.js: routes and procedures of the code that no span shows.

import { html } from "../dom.js";
import { useAsk } from "../api.js";
import { Time, count, plural } from "../format.js";
import { Answer, Changed, Field, Form, Heading, Symbol, Table, word } from "../parts.js";

export default function Dead({ query }) {
  const from = query.get("from") ?? "", repo = query.get("repo") ?? "";
  const answer = useAsk("/v1/runtime/dead-routes", { limit: 5000, ...(from && { from }), ...(repo && { repo }) });
  return html`<${Heading}>Routes never called<//>
    <${Form} label="Which"><${Field} name="from" label="since (time)" size="20" /><${Field} name="repo" label="repository" /><//>
    <${Answer} of=${answer}>${(d) => html`<p>${plural(d.total, "route")} without a call, ${count(d.seen)} seen.</p>
      ${d.routes.length > 0 && html`<${Table} label="Routes never called" sort="by" rows=${d.routes} keyOf=${(r) => r.kind + r.name + r.file} columns=${[
        { name: "route", of: (r) => html`<code>${word(r.name)}</code>`, by: (r) => r.name }, { name: "declared", of: (r) => html`<span class="dim">${word(r.repo)} ${word(r.file)}${r.line ? ":" + r.line : ""}</span>`, by: (r) => r.repo + r.file },
        { name: "handler", of: (r) => r.handler && html`<${Symbol} of=${r.handler} place=${false} />` }, { name: "served by", of: (r) => r.services.map((x) => word(x)).join(", ") },
        { name: "watched since", of: (r) => html`<${Time} at=${r.watched_since} />`, by: (r) => r.watched_since }, { name: "last change", of: (r) => html`<${Changed} of=${r.changed} />` }]} />`}
      ${d.unwatched.length > 0 && html`<h2>Cannot be decided</h2><p class="dim">No span of a service that may serve these came in.</p><${Table} label="Cannot be decided" rows=${d.unwatched} columns=${[
        { name: "repository", of: (u) => word(u.repo), by: (u) => u.repo }, { name: "folder", of: (u) => word(u.dir ?? "."), by: (u) => u.dir ?? "" }, { name: "routes", num: true, of: (u) => count(u.routes), by: (u) => u.routes }]} />`}`}<//>`;
}
