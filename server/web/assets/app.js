// app.js: the views and what shows them.
//
// To add a view: a module in views/ whose default export is a component, and its line below. The
// component gets {rest, query} of the address (router.js), sets its title with an h1, and keeps in
// the address whatever a person chooses. Modules of views are loaded when they are first shown.
// Its path must be in Views of server/web/web.go and in page() of server/access/operations.go.

import { announce, html, render, useEffect, useState } from "./dom.js";
import { check, useConnection } from "./api.js";
import { Failed, Loading } from "./format.js";
import { go, isInside, useLocation } from "./router.js";
import { Shell } from "./shell.js";

/** @type {Record<string, {load: () => Promise<{default: any}>, name?: string}>} a name is shown in the header */
const views = {
  "": { load: () => import("./views/start.js") },
  ask: { load: () => import("./views/ask.js"), name: "Ask" },
  narrative: { load: () => import("./views/narrative.js"), name: "Narrative" },
  command: { load: () => import("./views/command.js") },
  why: { load: () => import("./views/why.js") },
  code: { load: () => import("./views/code.js"), name: "Code" },
  runtime: { load: () => import("./views/runtime.js"), name: "Runtime" },
  agents: { load: () => import("./views/agents.js"), name: "Agents" },
  log: { load: () => import("./views/log.js"), name: "Log" },
  insights: { load: () => import("./views/insights.js"), name: "Insights" },
};

const nav = Object.entries(views).filter(([, v]) => v.name).map(([view, v]) => ({ view, name: v.name }));

/** View loads and shows the view of the address. */
function View() {
  const { view, rest, query } = useLocation();
  const [loaded, set] = useState({ view: null });
  const connection = useConnection();
  const known = views[view];
  useEffect(() => {
    let here = true;
    known?.load().then((m) => here && set({ view, component: m.default }), (error) => { check(); if (here) set({ view, error }); });
    return () => { here = false; };
  }, [view, connection]);
  useEffect(() => { // the new view's title, for the window and for who can't see it
    const h1 = document.querySelector("main h1");
    if (!h1 || loaded.view !== view) return;
    document.title = h1.textContent.trim() + " · Recount";
    announce(h1.textContent.trim());
  }, [view, rest, loaded]);
  if (!known) return html`<h1>No such view</h1><p><a href="/">Start page</a></p>`;
  if (loaded.view !== view) return html`<${Loading} />`;
  if (loaded.error) {
    return html`<h1>This view did not load</h1><${Failed} error=${loaded.error} />
      <p>If the server was updated, this page is of the version before: <button type="button" onClick=${() => location.reload()}>load it again</button></p>`;
  }
  return html`<${loaded.component} rest=${rest} query=${query} />`;
}

// Links within the page change the view; with a modifier, and to elsewhere, they are links.
document.addEventListener("click", (e) => {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const link = e.target instanceof Element && e.target.closest("a[href]");
  if (!link || link.target || link.hasAttribute("download")) return;
  const url = new URL(link.href, location.href);
  if (!isInside(url, Object.keys(views))) return;
  e.preventDefault();
  const moved = url.pathname !== location.pathname;
  go(url.pathname + url.search);
  if (moved) {
    scrollTo(0, 0);
    document.getElementById("main").focus({ preventScroll: true });
  }
});

const root = document.getElementById("app");
root.textContent = "";
render(html`<${Shell} nav=${nav}><${View} /><//>`, root);
