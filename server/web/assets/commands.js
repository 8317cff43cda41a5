// commands.js: commands in lists, alike in every view.
//
//   html`<${CommandList} commands=${hits} label="Hits" note=${(c) => …} as_of=${…} />`
//   html`<${Outcome} of=${command} />`    ✓, ✗ and the code, or · for not known

import { html } from "./dom.js";
import { Time, Text, duration, oneLine, plain } from "./format.js";
import { href } from "./router.js";

/** Outcome is how a command ended, as a mark and, for a screen reader, in words. */
export function Outcome({ of }) {
  if (of.exit_code === undefined || of.exit_code === null) return html`<span class="outcome" title="the outcome is not known"><span aria-hidden="true">·</span><span class="sr">outcome unknown</span></span>`;
  if (of.exit_code === 0) return html`<span class="outcome good" title="succeeded"><span aria-hidden="true">✓</span><span class="sr">succeeded</span></span>`;
  if (of.exit_code === 130) return html`<span class="outcome bad" title="interrupted (ctrl-C): exit code 130"><span aria-hidden="true">✗</span><span class="code">130</span><span class="sr">interrupted</span></span>`;
  return html`<span class="outcome bad" title=${"failed with exit code " + of.exit_code}><span aria-hidden="true">✗</span><span class="code">${of.exit_code}</span><span class="sr">failed</span></span>`;
}

/** who ran it: the author, else the user. */
export const who = (c) => c.author || c.user || "";

/**
 * CommandList lists commands, each a link to its view.
 * @param {{commands: any[], label: string, note?: (c: any) => any, current?: string, params?: Record<string, unknown>}} props
 */
export function CommandList({ commands, label, note, current, params }) {
  return html`<ol class="commands" aria-label=${label}>${commands.map((c) => html`<li key=${c.id} class=${c.id === current ? "current" : ""}>
    <a data-item href=${href("command/" + c.id, params)} aria-current=${c.id === current ? "true" : undefined}>
      <${Outcome} of=${c} />
      <span class="line"><${Text} value=${oneLine(c.command)} max=${320} /></span>
      <span class="meta"><span class="cwd" title=${plain(c.cwd ?? "")}>${plain(shortPath(c.cwd ?? ""))}</span><span class="who">${plain(who(c))}</span><span class="took">${duration(c.duration_ns)}</span><span class="age"><${Time} at=${c.time} unknown=${c.time_unknown} /></span></span>
    </a>${note && html`<div class="note">${note(c)}</div>`}
  </li>`)}</ol>`;
}

/** shortPath is the end of a path. */
export function shortPath(p, elements = 2) {
  const parts = p.split("/").filter(Boolean);
  return parts.length <= elements ? p : "…/" + parts.slice(-elements).join("/");
}
