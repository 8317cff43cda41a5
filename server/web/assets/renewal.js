// renewal.js: asking again while a view is looked at.
//
//   const live = useRenewal(answer.reload, ["agents"], 15)
//
// asks when an event of one of the topics has become visible, as the server tells by GET /v1/changes:
// at once, and then at most every two seconds, less often if answers take long. The stream has no answers in it: what a view shows is
// counted, ranked and joined by the server, so the view asks again. Of topics that the server does not
// tell this token about, and of [] (what changes without an event, as the disk of the log), it asks
// every some seconds instead. live is false while nobody looks at the page.

import { answerTime, useConnection } from "./api.js";
import { useEffect, useReducer, useRef, useState } from "./dom.js";
import { stream } from "./live.js";

const least = 2000; // milliseconds between two questions of a view

/** shared is the one stream of the page: it runs while somebody listens and the page is visible. */
const shared = { listeners: new Set(), follows: null, seen: { lastId: "" }, abort: null };

function look() {
  const wanted = shared.listeners.size > 0 && document.visibilityState === "visible";
  if (wanted && !shared.abort) {
    const mine = shared.abort = new AbortController();
    const refused = () => { if (shared.abort === mine) { shared.follows = []; tell([]); } };
    stream("/v1/changes", ({ follows, topics = [] }) => {
      if (follows) shared.follows = follows;
      tell(topics);
    }, mine.signal, shared.seen).catch(refused);
  } else if (!wanted && shared.abort) {
    shared.abort.abort();
    shared.abort = null;
  }
}

const tell = (topics) => { for (const l of [...shared.listeners]) l(topics); };

document.addEventListener("visibilitychange", look);

/**
 * useRenewal calls again() while the page is visible and the server answers.
 * @param {() => void} again
 * @param {string[]} topics whose events change what is shown
 * @param {number} seconds between two questions where the server tells nothing; 0 asks never
 */
export function useRenewal(again, topics, seconds) {
  const latest = useRef(again), last = useRef(0), timer = useRef(0);
  latest.current = again;
  const connection = useConnection();
  const [, redraw] = useReducer((n) => n + 1, 0);
  const [visible, see] = useState(document.visibilityState === "visible");
  useEffect(() => {
    const seen = () => see(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, []);
  const on = seconds > 0 && visible && connection === "up", key = topics.join();
  const told = topics.length > 0 && shared.follows !== null && topics.every((t) => shared.follows.includes(t));
  useEffect(() => {
    if (!on || key === "") return undefined;
    const ask = () => {
      timer.current = 0;
      last.current = performance.now();
      latest.current();
    };
    let known = shared.follows;
    const listener = (changed) => {
      if (shared.follows !== known) { known = shared.follows; redraw(); }
      if (changed.some((t) => topics.includes(t))) timer.current ||= setTimeout(ask, Math.max(0, last.current + Math.max(least, 5 * answerTime()) - performance.now()));
    };
    shared.listeners.add(listener);
    look();
    return () => {
      shared.listeners.delete(listener);
      look();
      clearTimeout(timer.current);
      timer.current = 0;
    };
  }, [on, key]);
  useEffect(() => {
    if (!on || told) return undefined;
    const timer = setInterval(() => latest.current(), seconds * 1000);
    return () => clearInterval(timer);
  }, [on, told, seconds]);
  return on;
}
